// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "core/base/scope.hpp"
#include "core/node/commands.hpp"
#include "core/node/control/server.hpp"
#include "core/node/services.hpp"
#include "core/node/snapshot.hpp"
#include "core/node/snapshots.hpp"

namespace waggle::node {

/// This node as a machine that others may watch: control::Server on its swarm, `paired.toml`, and
/// the commands pair and unpair. Thread: the network thread.
class Watched {
 public:
  /// `take` carries out a watcher's command and may be called from the store's thread. All outlive
  /// it.
  Watched(Services& services, Snapshots& snapshots, std::function<Status(Command)> take);
  ~Watched();
  [[nodiscard]] Co<void> close();

  /// pair or unpair, of the person at this machine. What is wrong with it becomes a notice.
  void command(Command const& command);

  [[nodiscard]] ControlView view() const;

 private:
  [[nodiscard]] Co<Status> obey(Command command);
  void keep(control::Contacts const& paired);

  Services& services_;
  std::function<Status(Command)> take_;
  std::shared_ptr<control::Server> server_;
};

}  // namespace waggle::node
