// SPDX-License-Identifier: MIT
#include "core/dht/blacklist.hpp"

#include <algorithm>

namespace waggle::dht {

bool Blacklist::contains(PeerId const& peer, TimePoint now) const {
  auto const it = bans_.find(peer);
  return it != bans_.end() && now < it->second.until;
}

void Blacklist::failed(PeerId const& peer, TimePoint now) {
  if (contains(peer, now)) return;
  if (bans_.size() >= kMaxPeers && !bans_.contains(peer)) {
    // The one whose ban ends first has the least to lose.
    bans_.erase(std::min_element(bans_.begin(), bans_.end(), [](auto const& a, auto const& b) {
      return a.second.until < b.second.until;
    }));
  }
  auto& ban = bans_.try_emplace(peer, Ban{now, to_seconds(base_)}).first->second;
  ban.until = now + std::min(seconds(ban.next), kMaxBan);
  ban.next = std::min(ban.next * rate_, to_seconds(kMaxBan));
}

void Blacklist::succeeded(PeerId const& peer) {
  bans_.erase(peer);
}

}  // namespace waggle::dht
