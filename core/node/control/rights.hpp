// SPDX-License-Identifier: MIT
#pragma once

#include "core/node/commands.hpp"
#include "core/node/control/contacts.hpp"

namespace waggle::node::control {

/// Whether a paired watcher may give this command. Who may only watch gives none. Who may control
/// does what a person at the machine does with a task and with the limits of a guest; not what
/// would widen its own reach: letting others watch, and settings beyond power, threads, disk and
/// [guest]. Errors: refused (why, for a person).
[[nodiscard]] Status may_give(Right right, Command const& command);

}  // namespace waggle::node::control
