// SPDX-License-Identifier: MIT
#include "core/optim/attendance.hpp"

#include <algorithm>

namespace waggle::optim {

namespace {

constexpr std::size_t kMostRemembered = 4096;

}  // namespace

bool Attendance::expected(PeerId const& peer) const {
  auto const found = missed_.find(peer);
  return found == missed_.end() || (found->second.skip == 0 && found->second.news);
}

void Attendance::news(PeerId const& peer, double time) {
  auto const found = missed_.find(peer);
  if (found != missed_.end() && time > found->second.at) found->second.news = true;
}

void Attendance::missed(PeerId const& peer, double now) {
  if (missed_.size() >= kMostRemembered) missed_.clear();
  auto& missed = missed_[peer];
  missed.running = std::min(missed.running + 1, 6);
  missed.skip = std::min((1 << missed.running) - 1, kMostSkipped);
  missed.news = false;
  missed.at = now;
}

void Attendance::round(std::span<PeerId const> waited_for,
                       std::span<PeerId const> came,
                       double now) {
  for (auto& [peer, missed] : missed_)
    if (missed.skip > 0) --missed.skip;
  for (auto const& peer : came) missed_.erase(peer);
  for (auto const& peer : waited_for)
    if (std::find(came.begin(), came.end(), peer) == came.end()) missed(peer, now);
}

}  // namespace waggle::optim
