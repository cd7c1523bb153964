// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/dht/messages.hpp"
#include "core/dht/routing_table.hpp"
#include "core/dht/storage.hpp"

namespace waggle::dht {

/// The keys of `storage` that a node new to us should hold from now on: nobody is known near them,
/// or it is nearer than the farthest of the known `replicas` and we are the nearest of all. Call it
/// before the table knows the node. Cost: a walk over the table for each key. Source:
/// spec/hivemind-dht.md section 13.4.
[[nodiscard]] std::vector<Id> handover_keys(Storage& storage,
                                            RoutingTable const& table,
                                            Id const& newcomer,
                                            std::size_t replicas,
                                            DhtTime now);

/// How a stored value travels: a regular value, or a whole dictionary.
[[nodiscard]] StoreItem whole_item(Id const& key,
                                   StoredValue const& stored,
                                   bool in_cache,
                                   DhtTime now);

}  // namespace waggle::dht
