// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/dht/id.hpp"

namespace waggle::dht {

/// A node of the DHT: where it stands and how to reach it.
struct Contact {
  Id id;
  PeerId peer;
  friend bool operator==(Contact const&, Contact const&) = default;
};

/// Whether distance `a` is smaller than `b`. Their first eight bytes nearly always tell, at the
/// cost of one comparison.
[[nodiscard]] inline bool nearer(Id const& a, Id const& b) noexcept {
  auto const x = load_be<std::uint64_t>(a.bytes);
  auto const y = load_be<std::uint64_t>(b.bytes);
  return x != y ? x < y : a < b;
}

/// The nodes we know, in buckets that halve the id space around our own id. Pure: handed the time.
///
/// Departures from hivemind: a PeerId stands in the table once, under the id it named last (it
/// restarted, or it lies); a split puts the midpoint into the right half, which owns it;
/// replacements are limited; a contact that failed once is hidden from nearest() until it is heard
/// of again or removed. Size: a contact takes 66 bytes; with n nodes about 20·log2(n/20) of them.
/// Source: spec/hivemind-dht.md section 13; Kademlia sections 2.2 and 2.4.
class RoutingTable {
 public:
  RoutingTable(Id own, std::size_t bucket_size, std::size_t depth_modulo);

  /// Records that `contact` was heard of. Returns the contact to ping if its bucket is full: the
  /// oldest one that is not being pinged yet. Our own id is ignored.
  std::optional<Contact> seen(Contact const& contact, TimePoint now);
  /// Records that it did not answer: hidden from nearest() until seen() or remove().
  void failed(Id const& id) noexcept;
  /// Takes it out; the most recent replacement moves up.
  void remove(Id const& id);

  [[nodiscard]] bool contains(Id const& id) const noexcept;
  [[nodiscard]] std::optional<Contact> find(PeerId const& peer) const;

  /// The `k` active contacts nearest to `target`, nearest first, without `exclude`. Cost: O(b + k
  /// log (b·k)) with b buckets.
  [[nodiscard]] std::vector<Contact> nearest(Id const& target,
                                             std::size_t k,
                                             Id const* exclude = nullptr) const;

  /// Active contacts.
  [[nodiscard]] std::size_t size() const noexcept;

  [[nodiscard]] Id const& own() const noexcept { return own_; }

  /// The range of the bucket that was not updated for the longest time; a bucket never updated is
  /// older than any.
  struct Range {
    Id lower;           ///< its first id
    std::size_t depth;  ///< how many leading bits all its ids share
    TimePoint updated;
  };

  [[nodiscard]] Range stalest() const;
  /// As if that range had just been updated: its refresh has begun.
  void touch(Id const& id, TimePoint now) noexcept;

  struct Entry {
    Contact contact;
    bool pinged = false;
    bool failed = false;
  };

  struct Bucket {
    Id lower;
    std::size_t depth = 0;
    TimePoint updated{};
    std::vector<Entry> nodes;         ///< the least recently seen first
    std::vector<Entry> replacements;  ///< the least recently seen first
  };

  /// In the order of their ranges; together they cover every id.
  [[nodiscard]] std::vector<Bucket> const& buckets() const noexcept { return buckets_; }

 private:
  [[nodiscard]] std::size_t index_of(Id const& id) const noexcept;
  [[nodiscard]] bool holds(Bucket const& bucket, Id const& id) const noexcept;
  void split(std::size_t index);
  [[nodiscard]] bool stands(Contact const& contact) const noexcept;
  void forget_other_ids(Contact const& contact);

  Id own_;
  std::size_t bucket_size_;
  std::size_t depth_modulo_;
  std::vector<Bucket> buckets_;
};

/// A random id of a range: its first `depth` bits, then `random`.
[[nodiscard]] Id id_in_range(Id const& lower, std::size_t depth, Id random) noexcept;

}  // namespace waggle::dht
