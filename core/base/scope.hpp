// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/signal.hpp"

namespace waggle {

/// Owns coroutines. Nothing is spawned outside a Scope, and a Scope is closed before it, or
/// anything its coroutines refer to, is destroyed: destruction order is the shutdown design.
///
///     Scope scope(runtime);
///     scope.spawn("accept", accept_loop());
///     ...
///     co_await scope.close();   // cancels and waits
///
/// A coroutine that leaks an exception is a bug: it is reported by name and aborts the program.
/// Thread: the network thread.
class Scope {
 public:
  explicit Scope(Runtime& runtime);
  /// Asserts that nothing runs any more.
  ~Scope();
  Scope(Scope const&) = delete;
  Scope& operator=(Scope const&) = delete;

  /// Starts `work`, which may run to its first suspension, even to its end, before this returns.
  /// After cancel() it starts cancelled.
  void spawn(std::string_view name, Co<void> work);

  /// Asks every coroutine to leave. Idempotent; does not wait.
  void cancel() noexcept;
  /// cancel(), then waits until all have left. Also works from a cancelled coroutine, never from
  /// one of its own.
  [[nodiscard]] Co<void> close();
  /// Waits until all have left by themselves. Errors: timeout, cancelled.
  [[nodiscard]] Co<Status> join(TimePoint deadline = kNoDeadline);

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

  [[nodiscard]] std::size_t size() const noexcept { return children_.size(); }

 private:
  struct Child;

  Runtime& runtime_;
  Signal drained_;
  std::list<std::unique_ptr<Child>> children_;
  bool cancelled_ = false;
};

}  // namespace waggle
