// SPDX-License-Identifier: MIT
#include "core/blob/fetch_plan.hpp"

#include <algorithm>
#include <limits>

namespace waggle::blob {

FetchPlan::FetchPlan(std::vector<bool> held, std::uint64_t seed)
    : held_(std::move(held)), copies_(held_.size(), 0), random_(seed | 1) {
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (!held_[i]) missing_.push_back(static_cast<std::uint32_t>(i));
}

std::uint64_t FetchPlan::draw() noexcept {
  // xorshift64 (Marsaglia 2003): only spreads fetchers, need not be unguessable.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

void FetchPlan::set_holding(PeerId const& peer, std::vector<bool> holding) {
  holding.resize(held_.size());
  auto& old = holdings_[peer];
  old.resize(held_.size());
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (holding[i] && !old[i] && copies_[i] < std::numeric_limits<std::uint16_t>::max())
      ++copies_[i];
    if (!holding[i] && old[i] && copies_[i] > 0) --copies_[i];
  }
  old = std::move(holding);
}

void FetchPlan::drop(PeerId const& peer) {
  if (!holdings_.contains(peer)) return;
  set_holding(peer, std::vector<bool>(held_.size()));
  holdings_.erase(peer);
  for (auto at = asked_.begin(); at != asked_.end();) {
    std::erase_if(at->second, [&](Asked const& asked) { return asked.peer == peer; });
    at = at->second.empty() ? asked_.erase(at) : std::next(at);
  }
}

std::optional<std::size_t> FetchPlan::rarest(std::vector<bool> const& holding) {
  if (missing_.empty()) return std::nullopt;
  std::size_t const start = draw() % missing_.size();
  std::optional<std::size_t> best;
  for (std::size_t n = 0; n < missing_.size() && (n < kScan || !best); ++n) {
    std::size_t const chunk = missing_[(start + n) % missing_.size()];
    if (!holding[chunk] || asked_.contains(chunk)) continue;
    if (!best || copies_[chunk] < copies_[*best]) best = chunk;
    if (copies_[chunk] <= 1) break;  // rarer does not exist
  }
  return best;
}

std::optional<std::size_t> FetchPlan::overdue(PeerId const& peer,
                                              std::vector<bool> const& holding,
                                              TimePoint now) const {
  std::optional<std::size_t> best;
  TimePoint oldest = now - kEndgameAge;
  for (auto const& [chunk, asked] : asked_) {
    if (!holding[chunk] || asked.size() >= kMaxAskers || asked.front().since > oldest) continue;
    if (std::any_of(asked.begin(), asked.end(), [&](Asked const& a) { return a.peer == peer; }))
      continue;
    best = chunk;
    oldest = asked.front().since;
  }
  return best;
}

std::optional<std::size_t> FetchPlan::next(PeerId const& peer, TimePoint now) {
  auto const found = holdings_.find(peer);
  if (found == holdings_.end()) return std::nullopt;
  auto chunk = rarest(found->second);
  if (!chunk) chunk = overdue(peer, found->second, now);
  if (chunk) asked_[*chunk].push_back({peer, now});
  return chunk;
}

void FetchPlan::arrived(std::size_t chunk) {
  asked_.erase(chunk);
  if (!wants(chunk)) return;
  held_[chunk] = true;
  auto const at = std::find(missing_.begin(), missing_.end(), chunk);
  *at = missing_.back();
  missing_.pop_back();
}

void FetchPlan::failed(PeerId const& peer, std::size_t chunk, bool denied) {
  if (auto const at = asked_.find(chunk); at != asked_.end()) {
    std::erase_if(at->second, [&](Asked const& asked) { return asked.peer == peer; });
    if (at->second.empty()) asked_.erase(at);
  }
  if (!denied) return;
  auto const holding = holdings_.find(peer);
  if (holding == holdings_.end() || chunk >= held_.size() || !holding->second[chunk]) return;
  holding->second[chunk] = false;
  if (copies_[chunk] > 0) --copies_[chunk];
}

void FetchPlan::lost(std::size_t chunk) {
  if (chunk >= held_.size() || !held_[chunk]) return;
  held_[chunk] = false;
  missing_.push_back(static_cast<std::uint32_t>(chunk));
}

}  // namespace waggle::blob
