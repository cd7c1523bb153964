// SPDX-License-Identifier: MIT
#include <memory>

#include "app/drive.hpp"

namespace waggle::app {

void add_monitor(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("monitor", "Watch a whole swarm from the DHT, without joining it");
  add_common(*command, common);

  struct Flags {
    NodeFlags node;
    node::MonitorJob job;
    double period = 2;
  };

  auto const flags = std::make_shared<Flags>();
  command->add_option("prefix", flags->job.prefix, "The task's prefix")->required();
  add_node_flags(*command, flags->node);
  command->add_option("--every", flags->period, "Seconds between two looks")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_option("--count", flags->job.count, "Look so many times; 0: until Ctrl-C")
      ->capture_default_str();
  add_examples(*command,
               "  waggle monitor fashion_resnet --peer /ip4/203.0.113.5/tcp/31337/p2p/12D3KooW…\n  "
               "waggle monitor fashion_resnet --json --count 1\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags] {
      flags->job.period = std::chrono::duration<double>(flags->period);
      flags->node.client = true;
      return drive(common, flags->node, flags->job);
    };
  });
}

}  // namespace waggle::app
