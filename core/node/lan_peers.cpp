// SPDX-License-Identifier: MIT
#include "core/node/lan_peers.hpp"

#include <algorithm>

namespace waggle::node {

bool LanPeers::saw(net::mdns::FoundPeer const& peer, TimePoint now) {
  std::erase_if(peers_, [&](auto const& one) { return now - one.second.seen > kKept; });
  if (!peers_.contains(peer.id) && peers_.size() >= kMost) return false;
  auto& entry = peers_[peer.id];
  entry.seen = now;
  bool fresh = false;
  for (auto const& given : peer.addresses) {
    auto address = given.with_peer_id(peer.id);
    auto& all = entry.addresses;
    if (all.size() >= kMostAddresses || std::ranges::find(all, address) != all.end()) continue;
    all.push_back(std::move(address));
    fresh = true;
  }
  return fresh;
}

std::vector<wire::Multiaddr> LanPeers::addresses(TimePoint now) const {
  std::vector<wire::Multiaddr> all;
  for (auto const& [id, entry] : peers_)
    if (now - entry.seen <= kKept)
      all.insert(all.end(), entry.addresses.begin(), entry.addresses.end());
  return all;
}

}  // namespace waggle::node
