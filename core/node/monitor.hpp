// SPDX-License-Identifier: MIT
#pragma once

#include "core/node/node.hpp"
#include "core/node/services.hpp"

namespace waggle::node {

/// Reads `<prefix>_progress` from the DHT again and again and tells the swarm's state as events:
/// epoch, samples, rates, and a row a peer, all as claimed by the peers. Returns when `leaving`
/// became true or after job.count times. Errors: not_found (no peer answers), cancelled.
[[nodiscard]] Co<Status> watch_swarm(Services& services,
                                     MonitorJob job,
                                     EventSink events,
                                     bool const& leaving);

}  // namespace waggle::node
