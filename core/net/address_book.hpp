// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net {

/// Which addresses peers are said to have, for how long that is believed, and what dialling them
/// came to. Filled by identify (while connected and 30 min after), Kad answers (2 min) and links
/// (for ever). Hints only: who answers at an address is checked when it is dialled. Thread: the
/// network thread.
class AddressBook {
 public:
  /// Larger: one peer makes us dial longer. Smaller: a machine with many networks is cut short.
  static constexpr std::size_t kMaxAddresses = 16;
  /// About 2 kB each. Beyond it those that would be forgotten first go first.
  static constexpr std::size_t kMaxPeers = 10'000;

  explicit AddressBook(Runtime& runtime) : runtime_(runtime) {}

  /// Believes `addresses` for `ttl` from now (Duration::max(): for ever); a later expiry of before
  /// stays. A trailing /p2p/ is dropped. Of more than kMaxAddresses the soonest to expire go.
  void add(PeerId const& peer, std::span<wire::Multiaddr const> addresses, Duration ttl);
  /// Freshest first; those that failed when last dialled come after all others. Without /p2p/.
  [[nodiscard]] std::vector<wire::Multiaddr> addresses(PeerId const& peer) const;
  /// What dialling an address came to; says nothing about one that is not in the book.
  void succeeded(PeerId const& peer, wire::Multiaddr const& address);
  void failed(PeerId const& peer, wire::Multiaddr const& address);
  /// Everybody with a live address, by PeerId. Cost: O(n log n).
  [[nodiscard]] std::vector<std::pair<PeerId, std::vector<wire::Multiaddr>>> all() const;

  [[nodiscard]] std::size_t size() const noexcept { return peers_.size(); }

 private:
  struct Entry {
    wire::Multiaddr address;
    TimePoint until;
    int failures = 0;  // in a row
  };

  using Entries = std::vector<Entry>;

  [[nodiscard]] std::vector<wire::Multiaddr> sorted(Entries const& entries) const;
  [[nodiscard]] Entry* find(PeerId const& peer, wire::Multiaddr const& address);
  void make_room();

  Runtime& runtime_;
  std::unordered_map<PeerId, Entries> peers_;
};

}  // namespace waggle::net
