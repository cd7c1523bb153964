// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net {

/// Finds where a peer can be reached: what the Swarm asks when it knows no address that works.
/// Implementation: kad::Service (core/net/kad/). Thread: the network thread.
class PeerRouting {
 public:
  virtual ~PeerRouting() = default;

  /// Addresses of `peer`, each a hint: the dial checks who answers there.
  /// Errors: not_found, timeout, cancelled.
  [[nodiscard]] virtual Co<Result<std::vector<wire::Multiaddr>>> find_peer(PeerId peer,
                                                                           TimePoint deadline) = 0;
};

}  // namespace waggle::net
