// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/runtime.hpp"

namespace waggle::net {

/// How many bytes a second may pass, for many who share one limit: a token bucket in which each
/// takes its place in a line. Pure data handed the time. Who moves bytes takes a turn for a piece
/// of them, and waits until it comes; turns come in the order in which they were taken, so that
/// nobody starves, and over any t seconds at most rate × (t + 1/4) bytes and a piece begin. A
/// changed rate counts at once, for those who wait too. Thread: one.
class RateLimit {
 public:
  /// Place in line: bytes taken before it, ever.
  using Turn = std::uint64_t;

  /// Below it a frame of 64 KiB takes longer than its deadline.
  static constexpr std::uint64_t kLeastRate = 10'000;

  /// 0: no limit.
  void set(std::uint64_t bytes_per_second, TimePoint now) noexcept;

  [[nodiscard]] std::uint64_t rate() const noexcept { return rate_; }

  /// How many bytes to move in one turn: an eighth of a second's, from 1 KiB to 16 KiB; without a
  /// limit, as many as you like.
  [[nodiscard]] std::size_t piece() const noexcept;

  [[nodiscard]] Turn take(std::size_t bytes, TimePoint now) noexcept;
  /// When that turn comes, as far as the present rate goes; `now` or earlier: it has.
  [[nodiscard]] TimePoint due(Turn turn, TimePoint now) const noexcept;

 private:
  [[nodiscard]] double granted(TimePoint now) const noexcept;

  std::uint64_t rate_ = 0;
  std::uint64_t taken_ = 0;
  double granted_ = 0;  ///< bytes, at `at_`
  TimePoint at_{};
};

}  // namespace waggle::net
