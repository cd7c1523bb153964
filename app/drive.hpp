// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/node/node.hpp"

#include "app/command.hpp"

namespace waggle::app {

/// Options of subcommands that start a node. Unset: as waggle.toml in the data directory says, else
/// node::Options' defaults.
struct NodeFlags {
  std::vector<std::string> peers;  ///< beside those of waggle.toml
  std::optional<std::string> host;
  std::optional<std::uint16_t> port;
  std::optional<std::size_t> threads;  ///< 0: as `power` says
  std::optional<bool> lan;             ///< unset: unless `host` is the loopback
  bool client = false;
  std::optional<device::PowerLevel> power;
  std::optional<std::uint16_t> api_port;
  bool always = false;  ///< whatever the rules of a good guest say
};

void add_node_flags(CLI::App& command, NodeFlags& flags);

/// What the flags and waggle.toml say together. Errors: invalid (a flag's address).
[[nodiscard]] Result<node::Options> options_of(Common const& common, NodeFlags const& flags);

/// The data directory's log, interrupts and the allocator, before a node of this process starts.
void prepare(Common const& common);

/// Starts a node for `job`, prints its events, and waits for its end. Ctrl-C or SIGTERM once: leave
/// in seconds; twice: at once. Returns the exit code.
int drive(Common const& common, NodeFlags const& flags, node::Job job);

}  // namespace waggle::app
