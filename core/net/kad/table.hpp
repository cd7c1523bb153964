// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/runtime.hpp"
#include "core/net/kad/id.hpp"

namespace waggle::net::kad {

/// The Kad servers we know, in buckets by how many bits they share with us. Pure: it is told the
/// time, sends nothing and knows no addresses.
/// Source: Maymounkov and Mazières, "Kademlia", section 2.2. Departures: a full bucket takes nobody
/// in (no replacement cache); who fails a probe is taken out at once, as go-libp2p-kad-dht does.
class Table {
 public:
  static constexpr std::size_t kBucketSize = 20;  ///< k, the whole network's

  struct Contact {
    PeerId peer;
    Id id;
    TimePoint confirmed;  ///< when it last answered us
  };

  explicit Table(PeerId const& self) : self_(Id::of(self)) {}

  /// Takes `peer`, which has just answered, or renews it. False if its bucket is full, or if it is
  /// ourselves. Cost: O(k).
  bool confirm(PeerId const& peer, TimePoint now);
  void remove(PeerId const& peer);

  [[nodiscard]] bool contains(PeerId const& peer) const;
  /// Whether there would be room for a peer that is not in it.
  [[nodiscard]] bool has_room(PeerId const& peer) const;
  /// At most `n`, closest first, without `except`. Cost: O(size log size).
  [[nodiscard]] std::vector<Contact> closest(Id const& target,
                                             std::size_t n,
                                             PeerId const& except = {}) const;
  /// Those that have not answered since `before`, the longest silent first.
  [[nodiscard]] std::vector<PeerId> silent_since(TimePoint before) const;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] Id const& self() const noexcept { return self_; }

 private:
  [[nodiscard]] std::size_t bucket_of(Id const& id) const noexcept;

  Id self_;
  std::array<std::vector<Contact>, 256> buckets_;
  std::size_t size_ = 0;
};

}  // namespace waggle::net::kad
