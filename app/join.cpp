// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include "core/node/api/api.hpp"

#include "app/command.hpp"

namespace waggle::app {

void add_join(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "join", "Let the running Waggle train another task; what it trains now waits");
  add_common(*command, common);
  auto const link = std::make_shared<std::string>();
  command->add_option("link", *link, "The task's link (waggle:…), or its bare prefix")->required();
  add_examples(*command,
               "  waggle join 'waggle:fashion_resnet?op=…&peer=…'\n"
               "  waggle join fashion_resnet            back to one that waits\n");
  command->callback([&common, &chosen, link] {
    chosen = [&common, link]() -> int {
      node::Command const wish{.kind = node::Command::Kind::join, .link = *link};
      auto const sent = node::api_post(api_socket(common), wish);
      if (!sent)
        return fail(common, sent.error(), sent.error().code == Errc::refused ? kUsage : kFailed);
      std::printf(common.json ? "{\"ok\":true}\n" : "joining; see waggle status\n");
      say_what_is_left(*sent);
      return kDone;
    };
  });
}

}  // namespace waggle::app
