// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "core/base/runtime.hpp"

namespace waggle {

namespace detail {
class Waiter;
}

/// A condition that coroutines of the network thread wait on. No state of its own: wait in a loop
/// that tests what you are waiting for.
///
///     while (queue.empty()) WAGGLE_CO_TRY_STATUS(co_await signal.wait(deadline));
///
/// Thread: the network thread. Must outlive its waiters: whoever owns a Signal closes the Scope of
/// those who wait on it first.
class Signal {
 public:
  explicit Signal(Runtime& runtime) : runtime_(runtime) {}

  ~Signal();
  Signal(Signal const&) = delete;
  Signal& operator=(Signal const&) = delete;

  /// Resumes at the next notify. Errors: timeout, cancelled.
  [[nodiscard]] Co<Status> wait(TimePoint deadline = kNoDeadline);

  void notify_all() noexcept;
  void notify_one() noexcept;

  [[nodiscard]] Runtime& runtime() const noexcept { return runtime_; }

 private:
  friend class Scope;
  /// As wait(), but deaf to cancellation: for closing what a cancelled coroutine opened.
  [[nodiscard]] Co<void> wait_uncancelled();

  Runtime& runtime_;
  std::vector<std::shared_ptr<detail::Waiter>> waiters_;
};

}  // namespace waggle
