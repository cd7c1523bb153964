// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include <asio/cancellation_state.hpp>

#include "core/base/runtime.hpp"

namespace waggle::detail {

/// One suspended coroutine, resumed exactly once: by complete(), by its timer or by cancellation,
/// whichever is first. Resumption is posted, never inline, so whoever completes is not re-entered.
class Waiter : public std::enable_shared_from_this<Waiter> {
 public:
  virtual ~Waiter() = default;
  /// Resumes the coroutine with `reason` (empty: notified). Later calls do nothing.
  virtual void complete(std::optional<Errc> reason) noexcept = 0;
  [[nodiscard]] virtual bool done() const noexcept = 0;
};

enum class Cancellable : bool { no, yes };

/// Suspends until completed. `enlist` is called with the waiter before suspension, to put it where
/// others will find it. Returns the reason; empty when notified.
[[nodiscard]] Co<std::optional<Errc>> suspend(Runtime& runtime,
                                              TimePoint deadline,
                                              Cancellable cancellable,
                                              std::function<void(std::shared_ptr<Waiter>)> enlist);

/// Whether the calling coroutine, whose state this is, was asked to leave. Aborts after kPatience
/// calls in a row that found so: a loop that swallows Errc::cancelled would otherwise spin for
/// ever.
[[nodiscard]] bool cancel_requested(asio::cancellation_state const& state);

}  // namespace waggle::detail
