// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "core/node/snapshot.hpp"
#include "core/optim/belief.hpp"

namespace waggle::node {

/// The other peers of a task for a snapshot: one a PeerID, the believed record before others that
/// name it; claims that are not believed as nought, huge ones cut. `now`: DHT time. O(n²).
[[nodiscard]] std::vector<VolunteerView> volunteers(std::span<optim::Standing const> peers,
                                                    double now);

}  // namespace waggle::node
