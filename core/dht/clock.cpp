// SPDX-License-Identifier: MIT
#include "core/dht/clock.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace waggle::dht {

void ClockOffset::sample(PeerId const& peer, double sent, double received, double theirs) {
  if (!std::isfinite(theirs) || theirs <= 0) return;
  if (samples_.size() >= kMaxPeers && !samples_.contains(peer))
    samples_.erase(
        std::min_element(samples_.begin(), samples_.end(), [](auto const& a, auto const& b) {
          return a.second.number < b.second.number;
        }));
  samples_[peer] = {theirs - (sent + received) / 2, next_++};
  update();
}

void ClockOffset::stepped(double by) {
  for (auto& [peer, sample] : samples_) sample.offset -= by;
  update();
}

double ClockOffset::applied() const noexcept {
  double const size = std::abs(median_);
  return size >= kDeadZone && size <= kMaxOffset ? median_ : 0;
}

void ClockOffset::update() {
  if (samples_.size() < kMinPeers) return;
  std::vector<double> sorted;
  sorted.reserve(samples_.size());
  for (auto const& [peer, sample] : samples_) sorted.push_back(sample.offset);
  std::sort(sorted.begin(), sorted.end());
  std::size_t const n = sorted.size();
  median_ = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

}  // namespace waggle::dht
