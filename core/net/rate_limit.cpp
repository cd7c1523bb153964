// SPDX-License-Identifier: MIT
#include "core/net/rate_limit.hpp"

#include <algorithm>
#include <cstdint>

namespace waggle::net {
namespace {

// What may be saved up while nobody moves bytes. Longer: a burst that a slow line notices; shorter:
// a rate that is not reached, because whoever waits wakes a little late.
constexpr double kSavedSeconds = 0.25;
constexpr std::uint64_t kLeastPiece = 1u << 10;
constexpr std::uint64_t kMostPiece = 16u << 10;

}  // namespace

double RateLimit::granted(TimePoint now) const noexcept {
  auto const rate = static_cast<double>(rate_);
  double const since = std::max(0.0, to_seconds(now - at_));
  return std::min(granted_ + rate * since, static_cast<double>(taken_) + rate * kSavedSeconds);
}

void RateLimit::set(std::uint64_t bytes_per_second, TimePoint now) noexcept {
  granted_ = rate_ == 0 ? static_cast<double>(taken_) : granted(now);
  at_ = now;
  rate_ = bytes_per_second;
}

std::size_t RateLimit::piece() const noexcept {
  if (rate_ == 0) return SIZE_MAX;
  return static_cast<std::size_t>(std::clamp(rate_ / 8, kLeastPiece, kMostPiece));
}

RateLimit::Turn RateLimit::take(std::size_t bytes, TimePoint now) noexcept {
  if (rate_ == 0) return taken_;
  granted_ = granted(now);
  at_ = now;
  Turn const turn = taken_;
  taken_ += bytes;
  return turn;
}

TimePoint RateLimit::due(Turn turn, TimePoint now) const noexcept {
  if (rate_ == 0) return now;
  double const missing = static_cast<double>(turn) - granted(now);
  if (missing <= 0) return now;
  return now + seconds(missing / static_cast<double>(rate_)) + Duration(1);
}

}  // namespace waggle::net
