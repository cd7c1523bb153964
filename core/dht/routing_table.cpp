// SPDX-License-Identifier: MIT
#include "core/dht/routing_table.hpp"

#include <algorithm>

#include "core/base/assert.hpp"

namespace waggle::dht {
namespace {

constexpr std::size_t kBits = Id::kBytes * 8;

// Larger: dead contacts pile up under a flood of new ids. Smaller: a bucket whose nodes die refills
// slowly.
constexpr std::size_t kReplacementsPerNode = 2;

bool same_prefix(Id const& a, Id const& b, std::size_t bits) noexcept {
  std::size_t const whole = bits / 8;
  if (!std::equal(
          a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(whole), b.bytes.begin()))
    return false;
  for (std::size_t i = whole * 8; i < bits; ++i)
    if (a.bit(i) != b.bit(i)) return false;
  return true;
}

auto at(std::vector<RoutingTable::Entry>& entries, Id const& id) {
  return std::find_if(
      entries.begin(), entries.end(), [&](auto const& e) { return e.contact.id == id; });
}

// PeerIds begin alike; their ends differ.
std::uint64_t tail_of(PeerId const& peer) noexcept {
  auto const bytes = peer.bytes();
  return bytes.size() < 8 ? 0 : load_le<std::uint64_t>(bytes.last(8));
}

void set_bit(Id& id, std::size_t i) noexcept {
  id.bytes[i / 8] |= static_cast<std::byte>(0x80u >> i % 8);
}

}  // namespace

RoutingTable::RoutingTable(Id own, std::size_t bucket_size, std::size_t depth_modulo)
    : own_(own), bucket_size_(bucket_size), depth_modulo_(depth_modulo), buckets_(1) {
  WAGGLE_ASSERT(bucket_size > 0 && depth_modulo > 0);
}

std::optional<Contact> RoutingTable::seen(Contact const& contact, TimePoint now) {
  if (contact.id == own_) return std::nullopt;
  if (!stands(contact)) forget_other_ids(contact);
  for (;;) {
    std::size_t const index = index_of(contact.id);
    auto& bucket = buckets_[index];
    bucket.updated = now;
    Entry const entry{contact, false, false};
    if (auto const known = at(bucket.nodes, contact.id); known != bucket.nodes.end()) {
      bucket.nodes.erase(known);
      bucket.nodes.push_back(entry);
      return std::nullopt;
    }
    if (bucket.nodes.size() < bucket_size_) {
      if (auto const spare = at(bucket.replacements, contact.id);
          spare != bucket.replacements.end())
        bucket.replacements.erase(spare);
      bucket.nodes.push_back(entry);
      return std::nullopt;
    }
    bool const may_split =
        (holds(bucket, own_) || bucket.depth % depth_modulo_ != 0) && bucket.depth < kBits;
    if (may_split) {
      split(index);
      continue;
    }
    auto& spares = bucket.replacements;
    if (auto const spare = at(spares, contact.id); spare != spares.end())
      spares.erase(spare);
    else if (spares.size() >= kReplacementsPerNode * bucket_size_)
      spares.erase(spares.begin());
    spares.push_back(entry);
    for (auto& node : bucket.nodes)
      if (!node.pinged) {
        node.pinged = true;
        return node.contact;
      }
    return std::nullopt;
  }
}

void RoutingTable::failed(Id const& id) noexcept {
  auto& nodes = buckets_[index_of(id)].nodes;
  if (auto const node = at(nodes, id); node != nodes.end()) node->failed = true;
}

void RoutingTable::remove(Id const& id) {
  auto& bucket = buckets_[index_of(id)];
  if (auto const spare = at(bucket.replacements, id); spare != bucket.replacements.end())
    bucket.replacements.erase(spare);
  auto const node = at(bucket.nodes, id);
  if (node == bucket.nodes.end()) return;
  bucket.nodes.erase(node);
  if (bucket.replacements.empty()) return;
  bucket.nodes.push_back(bucket.replacements.back());
  bucket.replacements.pop_back();
}

bool RoutingTable::contains(Id const& id) const noexcept {
  auto const& nodes = buckets_[index_of(id)].nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](auto const& e) { return e.contact.id == id; });
}

std::optional<Contact> RoutingTable::find(PeerId const& peer) const {
  for (auto const& bucket : buckets_)
    for (auto const& entry : bucket.nodes)
      if (entry.contact.peer == peer) return entry.contact;
  return std::nullopt;
}

// Buckets are disjoint subtrees of the id space: all contacts of one are nearer to `target` than
// all of another, and which is decided by any id of each. So whole buckets are taken, the nearest
// first, and only their contacts are sorted.
std::vector<Contact> RoutingTable::nearest(Id const& target,
                                           std::size_t k,
                                           Id const* exclude) const {
  struct Subtree {
    Id distance;
    Bucket const* bucket;
  };

  struct Candidate {
    Id distance;
    Contact const* contact;
  };

  std::vector<Subtree> subtrees;
  subtrees.reserve(buckets_.size());
  for (auto const& bucket : buckets_) subtrees.push_back({distance(target, bucket.lower), &bucket});
  auto const farther = [](auto const& a, auto const& b) { return nearer(b.distance, a.distance); };
  auto const by_distance = [](auto const& a, auto const& b) {
    return nearer(a.distance, b.distance);
  };
  std::make_heap(subtrees.begin(), subtrees.end(), farther);

  std::vector<Contact> out;
  out.reserve(std::min(k, size()));
  std::vector<Candidate> candidates;
  for (auto end = subtrees.end(); end != subtrees.begin() && out.size() < k; --end) {
    std::pop_heap(subtrees.begin(), end, farther);
    candidates.clear();
    for (auto const& entry : std::prev(end)->bucket->nodes)
      if (!entry.failed && !(exclude && entry.contact.id == *exclude))
        candidates.push_back({distance(target, entry.contact.id), &entry.contact});
    std::sort(candidates.begin(), candidates.end(), by_distance);
    for (auto const& candidate : candidates)
      if (out.size() < k) out.push_back(*candidate.contact);
  }
  return out;
}

std::size_t RoutingTable::size() const noexcept {
  std::size_t n = 0;
  for (auto const& bucket : buckets_) n += bucket.nodes.size();
  return n;
}

RoutingTable::Range RoutingTable::stalest() const {
  auto const oldest =
      std::min_element(buckets_.begin(), buckets_.end(), [](auto const& a, auto const& b) {
        return a.updated < b.updated;
      });
  return {oldest->lower, oldest->depth, oldest->updated};
}

void RoutingTable::touch(Id const& id, TimePoint now) noexcept {
  buckets_[index_of(id)].updated = now;
}

std::size_t RoutingTable::index_of(Id const& id) const noexcept {
  // The last bucket that starts at or before `id`.
  auto const after =
      std::upper_bound(buckets_.begin(), buckets_.end(), id, [](Id const& x, Bucket const& b) {
        return x < b.lower;
      });
  return static_cast<std::size_t>(after - buckets_.begin()) - 1;
}

bool RoutingTable::holds(Bucket const& bucket, Id const& id) const noexcept {
  return same_prefix(bucket.lower, id, bucket.depth);
}

void RoutingTable::split(std::size_t index) {
  auto& left = buckets_[index];
  Bucket right;
  right.depth = ++left.depth;
  right.lower = left.lower;
  set_bit(right.lower, left.depth - 1);
  right.updated = left.updated;
  auto nodes = std::exchange(left.nodes, {});
  auto spares = std::exchange(left.replacements, {});
  auto const side = [&](Entry const& e) -> Bucket& {
    return e.contact.id < right.lower ? left : right;
  };
  for (auto& node : nodes) side(node).nodes.push_back(node);
  for (auto& spare : spares) {
    auto& half = side(spare);
    (half.nodes.size() < bucket_size_ ? half.nodes : half.replacements).push_back(spare);
  }
  buckets_.insert(buckets_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(right));
}

// Whether it is known under just this id, and so under no other.
bool RoutingTable::stands(Contact const& contact) const noexcept {
  auto const& bucket = buckets_[index_of(contact.id)];
  auto const same = [&](Entry const& e) { return e.contact == contact; };
  return std::any_of(bucket.nodes.begin(), bucket.nodes.end(), same) ||
         std::any_of(bucket.replacements.begin(), bucket.replacements.end(), same);
}

void RoutingTable::forget_other_ids(Contact const& contact) {
  auto const tail = tail_of(contact.peer);
  auto const other = [&](Entry const& e) {
    return tail_of(e.contact.peer) == tail && e.contact.peer == contact.peer &&
           e.contact.id != contact.id;
  };
  std::optional<Id> stale;
  for (auto& bucket : buckets_) {
    std::erase_if(bucket.replacements, other);
    auto const it = std::find_if(bucket.nodes.begin(), bucket.nodes.end(), other);
    if (it != bucket.nodes.end()) stale = it->contact.id;
  }
  if (stale) remove(*stale);
}

Id id_in_range(Id const& lower, std::size_t depth, Id random) noexcept {
  for (std::size_t i = 0; i < depth; ++i) {
    auto const mask = static_cast<std::byte>(0x80u >> i % 8);
    random.bytes[i / 8] = (random.bytes[i / 8] & ~mask) | (lower.bytes[i / 8] & mask);
  }
  return random;
}

}  // namespace waggle::dht
