// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "core/base/result.hpp"

namespace waggle {

/// The coroutine type. "Task" is the user's word for a training run.
template <class T>
using Co = asio::awaitable<T>;

using Duration = std::chrono::nanoseconds;
/// Monotonic; for deadlines. Deadlines compose where timeouts do not.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

constexpr TimePoint kNoDeadline = TimePoint::max();

[[nodiscard]] constexpr Duration seconds(double s) noexcept {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

[[nodiscard]] constexpr double to_seconds(Duration d) noexcept {
  return std::chrono::duration<double>(d).count();
}

/// The only door to time, chance and the event loop. Production wraps an io_context and getrandom
/// (SystemRuntime); the simulator wraps a virtual clock and one seed (tests/sim/world.hpp).
///
/// Cancellation, everywhere above this class: a coroutine is cancelled by its Scope. From then on
/// every operation of ours returns Errc::cancelled, at once and without suspending; a loop that
/// retries after errors must leave on it (it is made to abort, loudly, if it does not).
///
/// Thread: the network thread, except executor(), which may be posted to from anywhere.
class Runtime {
 public:
  using TimerId = std::uint64_t;

  virtual ~Runtime() = default;

  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
  /// Seconds since 1970 by this machine's clock, for expirations; the DHT adds its measured offset.
  [[nodiscard]] virtual double unix_time() const noexcept = 0;
  virtual void fill_random(std::span<std::byte> out) noexcept = 0;
  [[nodiscard]] virtual asio::any_io_executor executor() const noexcept = 0;

  /// Calls `f` on the network thread once `deadline` has come (never for kNoDeadline), unless
  /// cancelled before.
  [[nodiscard]] virtual TimerId call_at(TimePoint deadline, std::function<void()> f) = 0;
  /// Forgets a timer. Harmless after it has fired.
  virtual void cancel(TimerId timer) noexcept = 0;

  /// Resumes at `deadline`. Errors: cancelled.
  [[nodiscard]] Co<Status> sleep_until(TimePoint deadline);

  [[nodiscard]] Co<Status> sleep_for(Duration d) { return sleep_until(now() + d); }

  [[nodiscard]] std::uint64_t random_u64() noexcept;
  /// Uniform in [0, 1).
  [[nodiscard]] double random_unit() noexcept;
  /// Uniform in [0, bound), bound > 0.
  [[nodiscard]] std::uint64_t random_below(std::uint64_t bound) noexcept;
};

}  // namespace waggle
