// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <vector>

#include "core/net/mdns/discovery.hpp"

namespace waggle::node {

/// Whom the local network named lately, so many that a flood of names is not dialled. Thread: the
/// network thread.
class LanPeers {
 public:
  static constexpr std::size_t kMost = 32;  ///< while full, newcomers wait until one is forgotten
  static constexpr std::size_t kMostAddresses = net::mdns::kMaxAddressesOfPeer;  ///< of each
  /// Longer: who left is asked in vain. Shorter: who missed a few questions is found anew.
  static constexpr Duration kKept = std::chrono::minutes(10);

  /// Whether there is something new to dial.
  [[nodiscard]] bool saw(net::mdns::FoundPeer const& peer, TimePoint now);
  /// Of all that were named within kKept, each with /p2p/.
  [[nodiscard]] std::vector<wire::Multiaddr> addresses(TimePoint now) const;

 private:
  struct Entry {
    std::vector<wire::Multiaddr> addresses;
    TimePoint seen{};
  };

  std::map<PeerId, Entry> peers_;
};

}  // namespace waggle::node
