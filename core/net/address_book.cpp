// SPDX-License-Identifier: MIT
#include "core/net/address_book.hpp"

#include <algorithm>

namespace waggle::net {

void AddressBook::add(PeerId const& peer,
                      std::span<wire::Multiaddr const> addresses,
                      Duration ttl) {
  if (addresses.empty() || ttl <= Duration::zero()) return;
  TimePoint const now = runtime_.now();
  TimePoint const until = ttl >= kNoDeadline - now ? kNoDeadline : now + ttl;
  if (!peers_.contains(peer) && peers_.size() >= kMaxPeers) make_room();
  Entries& entries = peers_[peer];
  std::erase_if(entries, [&](Entry const& e) { return e.until <= now; });
  // A list longer than can be kept is no reason to work on all of it.
  for (auto const& given : addresses.first(std::min(addresses.size(), kMaxAddresses))) {
    auto address = given.without_peer_id();
    if (address.bytes().empty()) continue;
    auto const known = std::find_if(
        entries.begin(), entries.end(), [&](Entry const& e) { return e.address == address; });
    if (known != entries.end())
      known->until = std::max(known->until, until);
    else
      entries.push_back({std::move(address), until, 0});
  }
  std::stable_sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) {
    return a.until > b.until;
  });
  if (entries.size() > kMaxAddresses) entries.resize(kMaxAddresses);
  if (entries.empty()) peers_.erase(peer);
}

std::vector<wire::Multiaddr> AddressBook::sorted(Entries const& entries) const {
  std::vector<Entry const*> live;
  for (auto const& e : entries)
    if (e.until > runtime_.now()) live.push_back(&e);
  std::stable_sort(live.begin(), live.end(), [](Entry const* a, Entry const* b) {
    return std::pair(a->failures, b->until) < std::pair(b->failures, a->until);
  });
  std::vector<wire::Multiaddr> addresses;
  for (auto const* e : live) addresses.push_back(e->address);
  return addresses;
}

std::vector<wire::Multiaddr> AddressBook::addresses(PeerId const& peer) const {
  auto const found = peers_.find(peer);
  return found == peers_.end() ? std::vector<wire::Multiaddr>{} : sorted(found->second);
}

AddressBook::Entry* AddressBook::find(PeerId const& peer, wire::Multiaddr const& address) {
  auto const found = peers_.find(peer);
  if (found == peers_.end()) return nullptr;
  auto const plain = address.without_peer_id();
  for (auto& e : found->second)
    if (e.address == plain) return &e;
  return nullptr;
}

void AddressBook::succeeded(PeerId const& peer, wire::Multiaddr const& address) {
  if (auto* const entry = find(peer, address)) entry->failures = 0;
}

void AddressBook::failed(PeerId const& peer, wire::Multiaddr const& address) {
  if (auto* const entry = find(peer, address)) ++entry->failures;
}

std::vector<std::pair<PeerId, std::vector<wire::Multiaddr>>> AddressBook::all() const {
  std::vector<std::pair<PeerId, std::vector<wire::Multiaddr>>> all;
  for (auto const& [peer, entries] : peers_) {
    auto addresses = sorted(entries);
    if (!addresses.empty()) all.emplace_back(peer, std::move(addresses));
  }
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  return all;
}

// One in sixteen at a time, so that a flood of names costs O(1) each. What strangers merely told us
// expires soonest, so the flood pushes out itself before it pushes out those we have met.
void AddressBook::make_room() {
  TimePoint const now = runtime_.now();
  std::vector<std::pair<TimePoint, PeerId>> by_expiry;
  for (auto const& [peer, entries] : peers_) {
    TimePoint last{};
    for (auto const& e : entries) last = std::max(last, e.until);
    by_expiry.emplace_back(last, peer);
  }
  std::sort(by_expiry.begin(), by_expiry.end());
  for (std::size_t i = 0; i < by_expiry.size(); ++i)
    if (i < kMaxPeers / 16 || by_expiry[i].first <= now) peers_.erase(by_expiry[i].second);
}

}  // namespace waggle::net
