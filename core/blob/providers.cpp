// SPDX-License-Identifier: MIT
#include "core/blob/providers.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::blob {

dht::Id provider_key(BlobId const& id) {
  return dht::Id::of_text(cat("waggle/blob/", id.text()));
}

dht::Record provider_record(BlobId const& id, PeerId const& self, dht::DhtTime expiration) {
  dht::Record record;
  record.key = provider_key(id);
  record.subkey = wire::Msgpack(to_bytes(self.bytes())).encode();
  record.value = wire::Msgpack(true).encode();
  record.expiration = expiration;
  return record;
}

std::vector<PeerId> providers_in(dht::Found const& found, PeerId const& self, std::uint64_t start) {
  std::vector<PeerId> all;
  if (!found.dictionary) return all;
  auto const yes = wire::Msgpack(true).encode();
  for (auto const& [subkey, timed] : *found.dictionary) {
    if (timed.value != yes) continue;
    auto const key = wire::Msgpack::decode(subkey);
    auto const* raw = key ? key->get<Bytes>() : nullptr;
    if (!raw) continue;
    auto const id = crypto::peer_id_from_bytes(*raw);
    if (id && *id != self) all.push_back(*id);
  }
  if (all.size() <= kMaxListed) return all;
  std::vector<PeerId> some;
  for (std::size_t i = 0; i < kMaxListed; ++i) some.push_back(all[(start + i) % all.size()]);
  return some;
}

Co<Result<std::vector<PeerId>>> find_providers(dht::Dht& dht, BlobId id, TimePoint deadline) {
  auto const key = provider_key(id);
  WAGGLE_CO_TRY(auto const found, co_await dht.get(key, dht::Freshness::latest, deadline));
  co_return providers_in(found, dht.host().self(), dht.host().runtime().random_u64() >> 1);
}

Co<Status> announce(dht::Dht& dht, std::vector<BlobId> ids, TimePoint deadline) {
  std::vector<dht::Record> records;
  for (auto const& id : ids)
    records.push_back(provider_record(id, dht.host().self(), dht.time() + kProviderSeconds));
  auto const stored = co_await dht.store_many(std::move(records), deadline);
  if (!stored) co_return stored.error();
  co_return ok();
}

}  // namespace waggle::blob
