// SPDX-License-Identifier: MIT
// pause, resume, finish: one command each to the running node.
#include <cstdio>
#include <memory>

#include "core/node/api/api.hpp"

#include "app/command.hpp"
#include "app/remote.hpp"

namespace waggle::app {
namespace {

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
        auto const sent = on->empty() ? node::api_post(api_socket(common), *request)
                                      : give_to(common, *on, *request);
        if (!sent) return fail(common, sent.error());
        std::printf(common.json ? "{\"ok\":true,\"state\":\"%s\"}\n" : "%s\n", control.done);
        return static_cast<int>(kDone);
      };
    });
  }
}

}  // namespace waggle::app
