// SPDX-License-Identifier: MIT
#include "core/net/kad/table.hpp"

#include <algorithm>

namespace waggle::net::kad {
namespace {

auto named(PeerId const& peer) {
  return [&peer](Table::Contact const& c) { return c.peer == peer; };
}

}  // namespace

std::size_t Table::bucket_of(Id const& id) const noexcept {
  return static_cast<std::size_t>(std::min(common_prefix_bits(self_, id), 255));
}

bool Table::confirm(PeerId const& peer, TimePoint now) {
  Id const id = Id::of(peer);
  if (id == self_) return false;
  auto& bucket = buckets_[bucket_of(id)];
  if (auto const known = std::find_if(bucket.begin(), bucket.end(), named(peer));
      known != bucket.end()) {
    known->confirmed = now;
    return true;
  }
  if (bucket.size() >= kBucketSize) return false;
  bucket.push_back({peer, id, now});
  ++size_;
  return true;
}

void Table::remove(PeerId const& peer) {
  size_ -= std::erase_if(buckets_[bucket_of(Id::of(peer))], named(peer));
}

bool Table::contains(PeerId const& peer) const {
  auto const& bucket = buckets_[bucket_of(Id::of(peer))];
  return std::any_of(bucket.begin(), bucket.end(), named(peer));
}

bool Table::has_room(PeerId const& peer) const {
  Id const id = Id::of(peer);
  return id != self_ && buckets_[bucket_of(id)].size() < kBucketSize;
}

std::vector<Table::Contact> Table::closest(Id const& target,
                                           std::size_t n,
                                           PeerId const& except) const {
  std::vector<std::pair<Id, Contact const*>> by_distance;
  by_distance.reserve(size_);
  for (auto const& bucket : buckets_)
    for (auto const& contact : bucket)
      if (contact.peer != except) by_distance.emplace_back(distance(target, contact.id), &contact);
  n = std::min(n, by_distance.size());
  std::partial_sort(
      by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(n), by_distance.end());
  std::vector<Contact> out;
  out.reserve(n);
  for (std::size_t i = 0; i < n; ++i) out.push_back(*by_distance[i].second);
  return out;
}

std::vector<PeerId> Table::silent_since(TimePoint before) const {
  std::vector<Contact const*> silent;
  for (auto const& bucket : buckets_)
    for (auto const& contact : bucket)
      if (contact.confirmed < before) silent.push_back(&contact);
  std::sort(silent.begin(), silent.end(), [](auto const* a, auto const* b) {
    return std::tie(a->confirmed, a->peer) < std::tie(b->confirmed, b->peer);
  });
  std::vector<PeerId> peers;
  for (auto const* contact : silent) peers.push_back(contact->peer);
  return peers;
}

}  // namespace waggle::net::kad
