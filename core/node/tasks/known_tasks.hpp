// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/scope.hpp"
#include "core/node/commands.hpp"
#include "core/node/examples.hpp"
#include "core/node/tasks/joined_tasks.hpp"

namespace waggle::node {

/// The cards of tasks that a person could join: of links that were looked at, of the public
/// directory while somebody browses, and of those that are joined. Looking joins nothing and
/// downloads nothing but the signed record and, where it names one, a preview of at most
/// kMaxPreviewBytes. Thread: the network thread.
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

  /// `made` (may be null) with the previews of the cards; null if there is neither. The same
  /// pointer as long as nothing changed.
  [[nodiscard]] std::shared_ptr<Examples const> with_previews(std::shared_ptr<Examples const> made);

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
  /// Has the preview fetched that the record names, unless it is here or on its way.
  void want_preview(task::TaskRecord const& record);
  [[nodiscard]] Co<void> fetch_preview(PeerId operator_id, std::string prefix, blob::BlobId id);

  Services& services_;
  JoinedTasks const& joined_;
  std::list<Looked> looked_;
  std::vector<KnownTaskView> listed_;
  std::vector<KnownTaskView> joined_cards_;  ///< as of judged_
  std::uint64_t serial_ = 0;
  TimePoint browse_until_{};
  Signal browse_asked_;
  TimePoint judged_{};
  /// By blob, newest last; an empty one is on its way or could not be had.
  std::list<std::pair<blob::BlobId, Preview>> previews_;
  std::shared_ptr<Examples const> made_;  ///< what with_previews() was last given and gave
  std::shared_ptr<Examples const> joint_;
  std::uint64_t memory_ = 0;  ///< available, at the last look
  std::uint64_t disk_ = 0;
  Scope scope_;
};

}  // namespace waggle::node
