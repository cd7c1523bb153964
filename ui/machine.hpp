// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/node/snapshot.hpp"

namespace waggle::ui {

/// One machine of the list: this one, or one that it is paired with.
struct Machine {
  enum class State : std::uint8_t {
    here,        ///< this machine, and a node runs
    idle,        ///< this machine, and none does
    connecting,  ///< nothing heard yet
    watching,
    lost,
    refused,  ///< it does not know us any more
  };

  std::string id;  ///< its PeerID; empty: this machine
  std::string name;
  State state = State::here;
  double since = 0;  ///< Unix seconds; of lost: since when
  std::string why;   ///< of connecting, lost and refused, in the node's words
  bool may_control = true;
  std::string task;        ///< what it works on; empty: nothing
  std::string task_state;  ///< as condition_of() tells it
};

/// What the window knows of machines beside the chosen one's snapshot.
struct Machines {
  std::vector<Machine> all;  ///< this one first
  std::string chosen;        ///< whose snapshot is shown; empty: this machine's
  double now = 0;            ///< Unix seconds

  bool pairing = false;  ///< one is being added
  std::string trouble;   ///< why the last one was not added

  std::string code;     ///< shown here for another machine; empty: none
  std::string address;  ///< where that machine finds this one
  node::ControlView here;

  [[nodiscard]] Machine const* shown() const {
    for (auto const& m : all)
      if (m.id == chosen) return &m;
    return nullptr;
  }
};

/// What a person asked of the list, to be passed on after the frame.
struct MachineRequest {
  enum class Kind : std::uint8_t {
    choose,     ///< show machine `id`
    add,        ///< watch the machine at `address` that shows `code`
    forget,     ///< machine `id`
    show_code,  ///< let another machine watch this one, and steer it if `control`
    hide_code,
    unpair,  ///< let the watcher `id` watch this machine no more
  };
  Kind kind;
  std::string id = {};
  std::string address = {};
  std::string code = {};
  bool control = false;
};

}  // namespace waggle::ui
