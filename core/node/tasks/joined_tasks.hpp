// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/node/services.hpp"
#include "core/node/snapshot.hpp"
#include "core/node/tasks/finder.hpp"

namespace waggle::node {

/// A task's name: two operators may use one prefix.
using TaskKey = std::pair<PeerId, std::string>;

[[nodiscard]] inline TaskKey key_of(FoundTask const& found) {
  return {found.record.operator_id, found.record.prefix};
}

/// The tasks that this data directory has joined. Their records are kept alive and their blobs
/// served, whichever of them trains; it survives a restart, with the one that trained last. Thread:
/// the network thread.
class JoinedTasks {
 public:
  struct Entry {
    FoundTask found;
    TaskView view;  ///< how it was left; "waiting" if it never trained since the start
  };

  explicit JoinedTasks(Services& services) : services_(services) {}

  /// Reads the store.
  [[nodiscard]] Co<void> load();
  /// Joins, or takes the newer record of one that is joined; told to the store, too.
  [[nodiscard]] Co<void> add(FoundTask found);
  /// As add(), of a task that somebody else tells the store.
  void note(FoundTask const& found);
  /// How it was when it stopped.
  void left(TaskKey const& key, TaskView view);
  /// Record, saved states, and blobs that no other task names. Returns the bytes freed. Errors:
  /// not_found, io, cancelled.
  [[nodiscard]] Co<Result<std::uint64_t>> forget(TaskKey key);

  [[nodiscard]] std::map<TaskKey, Entry> const& all() const noexcept { return entries_; }

  /// The one to train after a start: the last that a person told a running node to train.
  [[nodiscard]] Co<std::optional<FoundTask>> chosen();
  void choose(std::optional<TaskKey> const& key);

 private:
  Services& services_;
  std::map<TaskKey, Entry> entries_;
};

}  // namespace waggle::node
