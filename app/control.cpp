// SPDX-License-Identifier: MIT
// pause, resume, finish: one command each to the running node.
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/node/api/api.hpp"

#include "app/command.hpp"
#include "app/remote.hpp"

namespace waggle::app {
namespace {

using Json = nlohmann::ordered_json;

struct Control {
  char const* word;
  char const* description;
  char const* done;
  char const* examples;
  node::Command::Kind kind;
};

constexpr Control kControls[] = {
    {"pause",
     "Compute nothing, but stay in the swarm and keep serving",
     "paused",
     "  waggle pause\n  waggle pause fashion_resnet\n",
     node::Command::Kind::pause},
    {"resume",
     "Go on after pause",
     "resumed",
     "  waggle resume\n  waggle resume --data-dir /srv/waggle\n",
     node::Command::Kind::resume},
    {"finish",
     "Finish this epoch, save, and leave",
     "finishing",
     "  waggle finish\n  waggle finish --at-epoch 500\n",
     node::Command::Kind::finish},
};

void say(Common const& common, Control const& control, Json details) {
  if (!common.json) {
    std::printf("%s\n", control.done);
    return;
  }
  Json said = {{"ok", true}, {"state", control.done}};
  said.update(details);
  std::printf("%s\n", said.dump().c_str());
}

int here(Common const& common, Control const& control, node::Command const& request) {
  auto const taken = node::api_post(api_socket(common), request);
  if (!taken) return fail(common, taken.error());
  say(common, control, {{"carried_out", taken->carried_out}, {"kept", taken->kept}});
  say_what_is_left(*taken);
  return kDone;
}

// Another machine answers before it knows what is kept.
int there(Common const& common,
          Control const& control,
          std::string const& on,
          node::Command const& request) {
  auto const given = give_to(common, on, request);
  if (!given) return fail(common, given.error());
  say(common, control, Json::object());
  return kDone;
}

}  // namespace

void add_control(CLI::App& app, Common& common, Action& chosen) {
  for (auto const& control : kControls) {
    auto* const command = app.add_subcommand(control.word, control.description);
    add_common(*command, common);
    add_examples(*command, control.examples);
    auto const request = std::make_shared<node::Command>();
    request->kind = control.kind;
    command->add_option("prefix", request->prefix, "The task; every task if not given");
    if (control.kind == node::Command::Kind::finish) {
      auto const epoch = std::make_shared<std::int64_t>(0);
      command->add_option("--at-epoch", *epoch, "Leave once this epoch is reached")
          ->check(CLI::PositiveNumber);
      command->parse_complete_callback([request, epoch] {
        if (*epoch > 0) request->at_epoch = *epoch;
      });
    }
    auto const on = std::make_shared<std::string>();
    add_on(*command, *on);
    command->callback([&common, &chosen, request, on, &control] {
      chosen = [&common, request, on, &control] {
        return on->empty() ? here(common, control, *request)
                           : there(common, control, *on, *request);
      };
    });
  }
}

}  // namespace waggle::app
