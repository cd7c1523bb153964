// SPDX-License-Identifier: MIT
#include "core/worker/pacer.hpp"

#include <algorithm>

namespace waggle::worker {
namespace {

constexpr double kLeastShare = 0.01;

}  // namespace

void Pacer::set_share(double share) noexcept {
  share = std::clamp(share, kLeastShare, 1.0);
  if (share == share_) return;
  if (share >= 1 || share_ >= 1) reset();
  share_ = share;
}

TimePoint Pacer::due(Duration used, TimePoint now) noexcept {
  if (share_ >= 1) return now;
  if (!looked_ || used < used_) {
    looked_ = now;
    used_ = used;
    account_ = 0;
    return now;
  }
  double const window = to_seconds(kWindow);
  double const earned = share_ * to_seconds(now - *looked_);
  double const work = to_seconds(used - used_);
  looked_ = now;
  used_ = used;
  // Paid first, with the time of the work too; what is still owed then nobody let us rest for.
  account_ = std::max(account_ + earned, -window) - work;
  account_ = std::min(account_, share_ * window);
  return std::max(now, rest_until());
}

TimePoint Pacer::rest_until() const noexcept {
  if (share_ >= 1 || !looked_ || account_ >= 0) return TimePoint::min();
  return *looked_ + seconds(-account_ / share_);
}

}  // namespace waggle::worker
