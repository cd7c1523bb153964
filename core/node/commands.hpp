// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace waggle::node {

/// What every front end may ask of a node; fields are only ever added. JSON: {"command": "pause",
/// "prefix": "…"}.
struct Command {
  enum class Kind : std::uint8_t {
    pause,  ///< compute nothing, stay in the swarm
    resume,
    finish,   ///< finish this epoch (or run until `at_epoch`), then leave
    stop,     ///< finish the round and leave in seconds
    measure,  ///< evaluate on the whole test set after this epoch
    set,      ///< change a setting of waggle.toml, for now and for later
    join,     ///< train the task of `link`; what trains now waits
    leave,    ///< stop, forget the task of `prefix`, and free its disk
    look,     ///< find the task of `link` and show its card; joins nothing
    browse,   ///< read the public directory for the next minutes
    pair,     ///< offer to be watched: `value` is the code, `name` the right, for minutes
    unpair,   ///< let the watcher with the PeerID `value` in no more; without one: end the offer
  };
  Kind kind;
  std::string prefix = {};  ///< or OPERATOR/PREFIX, where two have one prefix; empty: every task
  std::optional<std::int64_t> at_epoch = {};  ///< finish only: the epoch after which to leave
  std::string link = {};                      ///< join and look only
  std::string name = {};                      ///< set only: as in waggle.toml, "guest.on_battery"
  std::string value = {};                     ///< set only: as TOML writes it; empty: the default

  /// Errors: malformed (not JSON), invalid (names the field).
  [[nodiscard]] static Result<Command> from_json(std::string_view text);
  [[nodiscard]] std::string to_json() const;

  /// Whether it is meant for this task.
  [[nodiscard]] bool names(std::string_view operator_id, std::string_view task_prefix) const;
};

/// How far a command had come when it was answered; fields are only ever added. JSON: {"ok": true,
/// "carried_out": true, "kept": true}.
struct Taken {
  bool carried_out = false;  ///< the node goes by it
  bool kept = false;         ///< what it has changed so far is on disk, and stands after a kill

  /// Errors: malformed.
  [[nodiscard]] static Result<Taken> from_json(std::string_view text);
  [[nodiscard]] std::string to_json() const;
};

}  // namespace waggle::node
