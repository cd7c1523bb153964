// SPDX-License-Identifier: MIT
#include <memory>

#include "app/drive.hpp"

namespace waggle::app {

void add_node(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "node", "Help the swarm without training: a DHT peer that keeps joined tasks alive");
  add_common(*command, common);
  auto const flags = std::make_shared<NodeFlags>();
  add_node_flags(*command, *flags);
  add_examples(*command,
               "  waggle node --port 31337\n  waggle node --peer "
               "/ip4/203.0.113.5/tcp/31337/p2p/12D3KooW…\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags] { return drive(common, *flags, node::ServeJob{}); };
  });
}

}  // namespace waggle::app
