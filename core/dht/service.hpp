// SPDX-License-Identifier: MIT
#pragma once

#include "core/dht/messages.hpp"
#include "core/dht/routing_table.hpp"
#include "core/dht/storage.hpp"
#include "core/dht/validators.hpp"

/// Answers to other nodes' calls, as functions of what we hold and the time; core/dht/dht.cpp wires
/// them to net/rpc. Pure. Source: spec/hivemind-dht.md section 11.
namespace waggle::dht {

/// What a node keeps for others: records it is near to, and copies of what it saw.
struct Records {
  Storage storage;
  Storage cache;

  /// The one of the two that a find is answered with: certified before uncertified, then the later
  /// end, storage on a tie. Null if neither has it.
  [[nodiscard]] StoredValue const* best(Id const& key, DhtTime now);
};

/// Stores what is valid, item by item. `sender` is charged. Errors: malformed (an item with the
/// dictionary tag is
[[nodiscard]] Result<StoreResponse> answer_store(StoreRequest const& request,
                                                 PeerId const& sender,
                                                 Id const* own,
                                                 Records& records,
                                                 Validators const& validators,
                                                 DhtTime now);

/// A result for each key, with the `neighbours` nearest nodes without the caller. A value that
/// would take the answer above kMaxAnswerBytes is left out.
[[nodiscard]] FindResponse answer_find(FindRequest const& request,
                                       RoutingTable const& table,
                                       std::size_t neighbours,
                                       Records& records,
                                       DhtTime now);

/// Stores one item: a regular value or an entry, validated. A malformed subkey is `invalid`.
[[nodiscard]] StoreOutcome store_item(StoreItem const& item,
                                      PeerId const& sender,
                                      Records& records,
                                      Validators const& validators,
                                      DhtTime now);

}  // namespace waggle::dht
