// SPDX-License-Identifier: MIT
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/node/api/api.hpp"

#include "app/command.hpp"

namespace waggle::app {
namespace {

int run(Common const& common) {
  auto url = node::api_get(api_socket(common), "/v1/page");
  if (!url) return fail(common, url.error());
  while (!url->empty() && url->back() == '\n') url->pop_back();
  if (common.json)
    std::printf("%s\n", nlohmann::json({{"ok", true}, {"url", *url}}).dump().c_str());
  else
    std::printf("%s\n", url->c_str());
  return kDone;
}

}  // namespace

void add_web(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "web", "Print the address, with its token, of the running Waggle's web page");
  add_common(*command, common);
  add_examples(*command,
               "  waggle run LINK --api-port 8642     serve the page on 127.0.0.1\n"
               "  waggle web                          where it is\n"
               "  ssh -L 8642:127.0.0.1:8642 box      then the same address works here\n");
  command->callback([&common, &chosen] { chosen = [&common] { return run(common); }; });
}

}  // namespace waggle::app
