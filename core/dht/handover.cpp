// SPDX-License-Identifier: MIT
#include "core/dht/handover.hpp"

namespace waggle::dht {

std::vector<Id> handover_keys(Storage& storage,
                              RoutingTable const& table,
                              Id const& newcomer,
                              std::size_t replicas,
                              DhtTime now) {
  std::vector<Id> out;
  for (auto const& key : storage.keys(now)) {
    auto const nearest = table.nearest(key, replicas);
    bool const due =
        nearest.empty() || (distance(key, newcomer) < distance(key, nearest.back().id) &&
                            distance(key, table.own()) < distance(key, nearest.front().id));
    if (due) out.push_back(key);
  }
  return out;
}

StoreItem whole_item(Id const& key, StoredValue const& stored, bool in_cache, DhtTime now) {
  StoreItem item;
  item.key = key;
  if (!stored.dictionary()) item.tag = to_bytes(regular_tag());
  item.value = stored.encode(now);
  item.expiration = stored.expiration;
  item.in_cache = in_cache;
  return item;
}

}  // namespace waggle::dht
