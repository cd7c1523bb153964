// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>

#include "core/base/runtime.hpp"

namespace waggle::optim {

/// Deadlines learnt from recent rounds: a robust multiple of the median, within bounds. Pure.
class RoundClock {
 public:
  /// `bound`: the task's timeout, never exceeded and used until something was measured.
  explicit RoundClock(Duration bound) : bound_(bound) {}

  /// A round that succeeded: how long its group took to find, and its all-reduce with the waiting
  /// for the slowest.
  void succeeded(Duration matchmaking, Duration all_reduce);
  /// The next deadline doubles, so that a network that has become slow is not given up on.
  void failed();

  /// How long an all-reduce may take: 5 · median + 2 s, at least three times sender(), doubled by
  /// each failure in a row. Smaller gives up on slow peers, larger waits longer for the dead.
  [[nodiscard]] Duration all_reduce() const;
  /// How long a member may be silent in it: 3 · median + 1 s, at least 2 s, doubled as above, at
  /// most `bound`, which also holds until something was measured.
  [[nodiscard]] Duration sender(Duration bound) const;
  /// How long a search for a group takes; 0 until something was measured.
  [[nodiscard]] Duration search() const;
  /// How long before the epoch's end to begin looking for a group: 3 · median + 0.5 s, at most
  /// `matchmaking_time`, which also holds until something was measured.
  [[nodiscard]] Duration lead(Duration matchmaking_time) const;

 private:
  Duration bound_;
  std::deque<Duration> matchmaking_;
  std::deque<Duration> all_reduce_;
  int failures_ = 0;
};

}  // namespace waggle::optim
