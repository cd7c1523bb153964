// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/blob/blob.hpp"

/// Who says in the DHT that they hold a blob: the dictionary "waggle/blob/<hex>", subkey the
/// PeerID's bytes (msgpack bin), value true. Anybody may write anything there: it only says whom to
/// ask.
namespace waggle::blob {

/// How long a record lives, and how often it is written again. Longer keeps the dead listed;
/// shorter costs calls.
constexpr double kProviderSeconds = 3600;
constexpr Duration kAnnounceEvery = std::chrono::minutes(20);
/// More are not read from one answer; a stranger can write any number.
constexpr std::size_t kMaxListed = 64;

[[nodiscard]] dht::Id provider_key(BlobId const& id);
[[nodiscard]] dht::Record provider_record(BlobId const& id,
                                          PeerId const& self,
                                          dht::DhtTime expiration);
/// The well-formed entries less `self`, at most kMaxListed, beginning at a place given by `start`
/// so that floods cannot always be in front.
[[nodiscard]] std::vector<PeerId> providers_in(dht::Found const& found,
                                               PeerId const& self,
                                               std::uint64_t start);

/// Errors: those of Dht::get.
[[nodiscard]] Co<Result<std::vector<PeerId>>> find_providers(dht::Dht& dht,
                                                             BlobId id,
                                                             TimePoint deadline);
/// Errors: those of Dht::store_many.
[[nodiscard]] Co<Status> announce(dht::Dht& dht, std::vector<BlobId> ids, TimePoint deadline);

}  // namespace waggle::blob
