// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/latest.hpp"
#include "core/node/node.hpp"

#include "app/command.hpp"
#include "app/local_settings.hpp"
#include "ui/source.hpp"

namespace waggle::app {

/// Where the window's snapshots come from: the node that answers on the data directory's api.sock,
/// whichever process it is; where none does, a node of this process, which trains nothing until a
/// task is joined. A thread of its own asks and sends, so that the window never waits.
class WindowSource final : public ui::Source {
 public:
  /// `look`: a link whose card is to be shown; empty: none.
  explicit WindowSource(Common const& common, std::string const& look = {});
  /// A node of this process leaves the swarm; returns when it has, in seconds.
  ~WindowSource() override;
  WindowSource(WindowSource const&) = delete;
  WindowSource& operator=(WindowSource const&) = delete;

  [[nodiscard]] std::shared_ptr<node::Snapshot const> snapshot() override;
  void send(node::Command command) override;
  [[nodiscard]] std::shared_ptr<node::Examples const> examples(bool wanted) override;
  [[nodiscard]] std::optional<std::string> take_trouble() override;
  [[nodiscard]] std::shared_ptr<LocalSettings::List const> settings() override;
  void keep(std::string name, std::string value) override;
  void attend(Attention attention) override;
  void join(std::string link) override;
  [[nodiscard]] bool can_join() const override;
  [[nodiscard]] bool own_node() const override;

 private:
  void work();
  [[nodiscard]] std::chrono::milliseconds period() const;
  void keep_what_was_asked();
  void start_node();
  void look();
  void look_at_own();
  void ask_for_examples();
  void say(std::string trouble);

  Common const common_;
  Latest<node::Snapshot> latest_;
  Latest<node::Examples> examples_;
  LocalSettings local_;
  std::unique_ptr<node::Node> node_;  // the worker's, as the three below
  bool prepared_ = false;             // log and signals
  int failures_ = 0;                  // to start it, in a row
  bool ended_ = false;                // a person stopped it: it is not started again

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<node::Command> commands_;  // guarded by mutex_, as all below
  std::deque<std::pair<std::string, std::string>> kept_;
  std::optional<std::string> trouble_;
  bool own_ = false;
  bool stopping_ = false;
  bool examples_wanted_ = false;
  Attention attention_ = Attention::full;
  std::thread worker_;
};

}  // namespace waggle::app
