// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/node/commands.hpp"
#include "core/node/control/machines.hpp"
#include "core/node/snapshot.hpp"

#include "app/command.hpp"

namespace waggle::app {

/// --on NAME|PEERID: another machine that this data directory is paired with (waggle pair).
void add_on(CLI::App& command, std::string& on);

/// The machines of this data directory, none of them watched: for one question. Errors: those of
/// control::Machines::open.
[[nodiscard]] Result<std::unique_ptr<node::control::Machines>> open_machines(Common const& common);

/// Asks that machine for one snapshot. Errors: not_found, invalid, refused, timeout (with why), and
/// those of control::Machines::open.
[[nodiscard]] Result<node::Snapshot> snapshot_of(Common const& common, std::string const& on);
/// Has it carry out a command. Errors: as snapshot_of.
[[nodiscard]] Status give_to(Common const& common, std::string const& on, node::Command command);

}  // namespace waggle::app
