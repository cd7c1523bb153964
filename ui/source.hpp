// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/node/commands.hpp"
#include "core/node/examples.hpp"
#include "core/node/snapshot.hpp"

#include "ui/machine.hpp"

namespace waggle::ui {

/// Where a window's snapshots come from and its commands go to: a node of this process or one
/// behind a socket. Thread: every function is called by the window's thread and returns at once.
class Source {
 public:
  virtual ~Source() = default;

  /// The newest; null while no node answers.
  [[nodiscard]] virtual std::shared_ptr<node::Snapshot const> snapshot() = 0;
  virtual void send(node::Command command) = 0;
  /// Example predictions; `wanted`: somebody looks at them. Null while there are none.
  [[nodiscard]] virtual std::shared_ptr<node::Examples const> examples(bool wanted) = 0;
  /// Why a command was not taken, once.
  [[nodiscard]] virtual std::optional<std::string> take_trouble() = 0;

  /// What this machine's waggle.toml says, whether or not a node answers; null while not read yet.
  [[nodiscard]] virtual std::shared_ptr<std::vector<node::SettingView> const> settings() = 0;
  /// Changes a setting of this machine's waggle.toml, whichever node is looked at.
  virtual void keep(std::string name, std::string value) = 0;

  /// How new snapshot() is to be: nobody sees the window, somebody has it before them, or works
  /// with it.
  enum class Attention { none, little, full };
  virtual void attend(Attention attention) = 0;

  /// Begins to train the task of a link, in this process.
  virtual void join(std::string link) = 0;
  [[nodiscard]] virtual bool can_join() const = 0;
  [[nodiscard]] virtual bool own_node() const = 0;

  /// The machines that can be shown; snapshot() and send() are of the chosen one. Null: only one.
  [[nodiscard]] virtual std::shared_ptr<Machines const> machines() { return nullptr; }

  virtual void ask(MachineRequest request) { (void)request; }
};

}  // namespace waggle::ui
