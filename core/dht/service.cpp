// SPDX-License-Identifier: MIT
#include "core/dht/service.hpp"

#include <algorithm>

namespace waggle::dht {
namespace {

// What a neighbour takes in an answer: id, PeerId and their tags.
constexpr std::size_t kNeighbourBytes = 68;

bool store_dictionary(StoreItem const& item,
                      DictionaryValue const& dictionary,
                      PeerId const& sender,
                      Storage& target,
                      Validators const& validators,
                      DhtTime now) {
  auto const entries = dictionary.listed(now);
  bool const valid = std::all_of(entries.begin(), entries.end(), [&](auto const* e) {
    return validators.validate({item.key, e->first, e->second.value, e->second.expiration})
        .has_value();
  });
  if (!valid) return false;
  // Stopping at the first rejected entry is hivemind's way, and visible in what is found
  // afterwards.
  return std::all_of(entries.begin(), entries.end(), [&](auto const* e) {
    return target.store_entry(
               item.key, e->first, e->second.value, e->second.expiration, now, sender) ==
           StoreOutcome::stored;
  });
}

}  // namespace

StoredValue const* Records::best(Id const& key, DhtTime now) {
  auto const* stored = storage.get(key, now);
  auto const* cached = cache.get(key, now);
  if (!stored || !cached) return stored ? stored : cached;
  auto const a = storage.version(key);
  auto const b = cache.version(key);
  if (a != b) return a > b ? stored : cached;
  return cached->expiration > stored->expiration ? cached : stored;
}

StoreOutcome store_item(StoreItem const& item,
                        PeerId const& sender,
                        Records& records,
                        Validators const& validators,
                        DhtTime now) {
  auto& target = item.in_cache ? records.cache : records.storage;
  if (!validators.validate({item.key, item.tag, item.value, item.expiration}))
    return StoreOutcome::invalid;
  if (is_regular_tag(item.tag))
    return target.store(item.key, item.value, item.expiration, now, sender);
  if (item.tag.size() > DictionaryValue::kMaxSubkeyBytes) return StoreOutcome::too_large;
  auto subkey = normal_subkey(item.tag);
  // A longer form of nil is nil too, and nil is no subkey.
  if (!subkey || is_regular_tag(*subkey)) return StoreOutcome::invalid;
  return target.store_entry(item.key, *std::move(subkey), item.value, item.expiration, now, sender);
}

Result<StoreResponse> answer_store(StoreRequest const& request,
                                   PeerId const& sender,
                                   Id const* own,
                                   Records& records,
                                   Validators const& validators,
                                   DhtTime now) {
  StoreResponse out;
  if (own) out.node = *own;
  for (auto const& item : request.items) {
    if (!item.tag.empty()) {
      out.store_ok.push_back(store_item(item, sender, records, validators, now) ==
                             StoreOutcome::stored);
      continue;
    }
    WAGGLE_TRY(auto const dictionary, DictionaryValue::decode(item.value));
    auto& target = item.in_cache ? records.cache : records.storage;
    out.store_ok.push_back(store_dictionary(item, dictionary, sender, target, validators, now));
  }
  return out;
}

FindResponse answer_find(FindRequest const& request,
                         RoutingTable const& table,
                         std::size_t neighbours,
                         Records& records,
                         DhtTime now) {
  FindResponse out;
  out.node = table.own();
  Id const* const caller = request.node ? &*request.node : nullptr;
  std::size_t left = kMaxAnswerBytes - std::min(kMaxAnswerBytes / 2,
                                                request.keys.size() * neighbours * kNeighbourBytes);
  for (auto const& key : request.keys) {
    FindResult result;
    if (auto const* best = records.best(key, now)) {
      Bytes value = best->encode(now);
      if (value.size() <= left) {
        left -= value.size();
        result.type = best->dictionary() ? FindResult::Type::dictionary : FindResult::Type::regular;
        result.value = std::move(value);
        result.expiration = best->expiration;
      }
    }
    result.nearest = table.nearest(key, neighbours, caller);
    out.results.push_back(std::move(result));
  }
  return out;
}

}  // namespace waggle::dht
