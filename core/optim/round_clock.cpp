// SPDX-License-Identifier: MIT
#include "core/optim/round_clock.hpp"

#include <algorithm>
#include <vector>

namespace waggle::optim {

namespace {

constexpr std::size_t kRemembered = 15;
constexpr Duration kShortestSilence = std::chrono::seconds(2);

Duration median(std::deque<Duration> const& values) {
  std::vector<Duration> sorted(values.begin(), values.end());
  auto const middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void note(std::deque<Duration>& values, Duration value) {
  values.push_back(value);
  if (values.size() > kRemembered) values.pop_front();
}

}  // namespace

void RoundClock::succeeded(Duration matchmaking, Duration all_reduce) {
  note(matchmaking_, matchmaking);
  note(all_reduce_, all_reduce);
  failures_ = 0;
}

void RoundClock::failed() {
  failures_ = std::min(failures_ + 1, 8);
}

Duration RoundClock::all_reduce() const {
  if (all_reduce_.empty()) return bound_;
  auto const learnt = (5 * median(all_reduce_) + std::chrono::seconds(2)) * (1 << failures_);
  return std::min(bound_, std::max(3 * sender(bound_), learnt));
}

Duration RoundClock::sender(Duration bound) const {
  if (all_reduce_.empty()) return bound;
  auto const learnt = std::max(kShortestSilence, 3 * median(all_reduce_) + std::chrono::seconds(1));
  return std::min(bound, learnt * (1 << failures_));
}

Duration RoundClock::search() const {
  return matchmaking_.empty() ? Duration{} : median(matchmaking_);
}

Duration RoundClock::lead(Duration matchmaking_time) const {
  if (matchmaking_.empty() || failures_ > 0) return matchmaking_time;
  return std::min(matchmaking_time, 3 * median(matchmaking_) + std::chrono::milliseconds(500));
}

}  // namespace waggle::optim
