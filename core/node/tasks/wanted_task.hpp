// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "core/node/commands.hpp"
#include "core/node/events.hpp"
#include "core/node/services.hpp"
#include "core/node/snapshot.hpp"
#include "core/node/tasks/finder.hpp"

namespace waggle::node {

/// A link that a person joined while the node runs, looked for until its task is found, given up,
/// or another one is joined. Thread: the network thread.
class WantedTask {
 public:
  /// `found` takes over what is found.
  WantedTask(Services& services, EventSink const& events, std::function<Co<void>(FoundTask)> found);
  [[nodiscard]] Co<void> close();

  /// In place of the one wanted before.
  void want(task::Link link);
  /// Forgets it, if the command names it.
  void leave(Command const& command);
  /// Null while nothing is wanted.
  [[nodiscard]] TaskView const* view() const noexcept;

 private:
  struct Wanted {
    task::Link link;
    TaskView view;
    bool searching = true;
  };

  [[nodiscard]] Co<void> search();

  Services& services_;
  EventSink const& events_;
  std::function<Co<void>(FoundTask)> found_;
  std::optional<Wanted> wanted_;
  std::uint64_t serial_ = 0;  ///< of what is wanted, for one that was in the middle of a search
  Signal changed_;
  Scope scope_;
};

}  // namespace waggle::node
