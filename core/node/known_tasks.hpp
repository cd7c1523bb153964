// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <vector>

#include "core/base/scope.hpp"
#include "core/node/commands.hpp"
#include "core/node/joined_tasks.hpp"

namespace waggle::node {

/// The cards of tasks that a person could join: of links that were looked at, of the public
/// directory while somebody browses, and of those that are joined. Looking joins nothing, downloads
/// nothing but the signed record, and keeps nothing on disk. Thread: the network thread.
class KnownTasks {
 public:
  static constexpr std::size_t kMostLooked = 16;  ///< the oldest makes way
  /// Of the directory. More: each snapshot carries them all.
  static constexpr std::size_t kMostListed = 64;
  static constexpr std::size_t kMostDescribed = 1000;  ///< bytes of a listed one's description

  KnownTasks(Services& services, JoinedTasks const& joined);
  [[nodiscard]] Co<void> close();

  /// Finds the task of a link, for a minute; its card says how it went.
  void look(task::Link link);
  /// Reads the public directory now and, once in a while, for the next minutes.
  void browse();
  /// Takes the cards of looked-at links away that the command names.
  void forget(Command const& command);

  [[nodiscard]] std::vector<KnownTaskView> views();

  /// What is joined changed: the next views() shows it.
  void refresh() noexcept { judged_ = {}; }

 private:
  struct Looked {
    task::Link link;
    KnownTaskView view;
    std::uint64_t serial = 0;
  };

  [[nodiscard]] Co<void> find(task::Link link, std::uint64_t serial);
  [[nodiscard]] Co<void> read_directory();
  [[nodiscard]] KnownTaskView card(task::TaskRecord const& record, std::string source) const;
  void judge(KnownTaskView& view) const;

  Services& services_;
  JoinedTasks const& joined_;
  std::list<Looked> looked_;
  std::vector<KnownTaskView> listed_;
  std::vector<KnownTaskView> joined_cards_;  ///< as of judged_
  std::uint64_t serial_ = 0;
  TimePoint browse_until_{};
  Signal browse_asked_;
  TimePoint judged_{};
  std::uint64_t memory_ = 0;  ///< available, at the last look
  std::uint64_t disk_ = 0;
  Scope scope_;
};

}  // namespace waggle::node
