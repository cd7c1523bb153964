// SPDX-License-Identifier: MIT
#include <memory>

#include "app/drive.hpp"

namespace waggle::app {

void add_run(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand("run", "Join a task and train it with the others");
  add_common(*command, common);

  struct Flags {
    NodeFlags node;
    node::TrainJob job;
    double accuracy = 0;
    bool headless = true;
  };

  auto const flags = std::make_shared<Flags>();
  command->add_option("link", flags->job.link, "The task's link (waggle:…), or its bare prefix")
      ->required();
  add_node_flags(*command, flags->node);
  command->add_option("--until-epoch", flags->job.until_epoch, "Leave once this epoch is reached")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--until-accuracy",
                   flags->accuracy,
                   "Leave once the model classifies this share of the test set rightly")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag(
      "--headless", flags->headless, "Accepted for symmetry: run never opens a window");
  add_examples(
      *command,
      "  waggle run 'waggle:fashion_resnet?op=12D3KooW…&peer=…'\n"
      "  waggle run fashion_resnet --peer /ip4/203.0.113.5/tcp/31337/p2p/12D3KooW… --threads 4\n"
      "  waggle run LINK --json --until-accuracy 0.9\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags] {
      if (flags->accuracy > 0) flags->job.until_accuracy = flags->accuracy;
      return drive(common, flags->node, flags->job);
    };
  });
}

}  // namespace waggle::app
