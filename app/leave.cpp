// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include "core/node/api/api.hpp"
#include "core/node/local.hpp"

#include "app/command.hpp"

namespace waggle::app {

void add_leave(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand("leave", "Forget a task and free its disk");
  add_common(*command, common);
  auto const prefix = std::make_shared<std::string>();
  command->add_option("prefix", *prefix, "The task")->required();
  add_examples(*command, "  waggle leave fashion_resnet\n");
  command->callback([&common, &chosen, prefix] {
    chosen = [&common, prefix]() -> int {
      node::Options options;
      options.data_dir = common.data_dir;
      auto const freed = node::leave_task(options, *prefix);
      if (!freed && freed.error().code == Errc::refused) {
        // A node runs there: it stops training the task first.
        node::Command const leave{.kind = node::Command::Kind::leave, .prefix = *prefix};
        auto const sent = node::api_post(api_socket(common), leave);
        if (!sent) return fail(common, sent.error());
        std::printf(common.json ? "{\"ok\":true}\n" : "leaving; its disk is freed when it has\n");
        say_what_is_left(*sent);
        return kDone;
      }
      if (!freed) return fail(common, freed.error());
      std::printf(common.json ? "{\"ok\":true,\"freed\":%llu}\n" : "left; %llu bytes freed\n",
                  static_cast<unsigned long long>(*freed));
      return kDone;
    };
  });
}

}  // namespace waggle::app
