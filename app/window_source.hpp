// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/latest.hpp"
#include "core/node/node.hpp"

#include "app/command.hpp"
#include "ui/source.hpp"

namespace waggle::app {

/// Where the window's snapshots come from: the node that answers on the data directory's api.sock,
/// whichever process it is; or, once a link was joined here, a node of this process. A thread of
/// its own asks and sends, so that the window never waits.
class WindowSource final : public ui::Source {
 public:
  explicit WindowSource(Common const& common);
  /// A node of this process leaves the swarm; returns when it has, in seconds.
  ~WindowSource() override;
  WindowSource(WindowSource const&) = delete;
  WindowSource& operator=(WindowSource const&) = delete;

  [[nodiscard]] std::shared_ptr<node::Snapshot const> snapshot() override;
  void send(node::Command command) override;
  [[nodiscard]] std::optional<std::string> take_trouble() override;
  void join(std::string link) override;
  [[nodiscard]] bool can_join() const override;
  [[nodiscard]] bool own_node() const override;

 private:
  void work();
  void start_node(std::string const& link);
  void look();
  void say(std::string trouble);

  Common const common_;
  Latest<node::Snapshot> latest_;
  std::unique_ptr<node::Node> node_;  // the worker's

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<node::Command> commands_;  // guarded by mutex_, as all below
  std::optional<std::string> link_;
  std::optional<std::string> trouble_;
  bool own_ = false;
  bool looked_ = false;  // whether somebody else's node runs here is known
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace waggle::app
