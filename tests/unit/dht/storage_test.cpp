// SPDX-License-Identifier: MIT
#include "core/dht/storage.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

constexpr double kNow = 1.7e9;

Id key(int n) {
  return Id::of_text(cat("key ", n));
}

PeerId sender(int n) {
  return *PeerId::from_bytes(as_bytes(cat("sender ", n)));
}

Bytes subkey(int n) {
  return wire::Msgpack(n).encode();
}

/// Values that begin with "v" carry their version in the second letter.
std::optional<std::uint64_t> by_letter(Id const&, ByteView value) {
  auto const text = as_text(value);
  if (text.size() < 2 || text[0] != 'v') return std::nullopt;
  return static_cast<std::uint64_t>(text[1] - '0');
}

}  // namespace

TEST_CASE("a record lives until its end and is gone after it") {
  Storage storage;
  CHECK(storage.store(key(1), Bytes(3), kNow + 10, kNow) == StoreOutcome::stored);
  CHECK(storage.get(key(1), kNow + 10) != nullptr);
  CHECK(storage.get(key(1), kNow + 10.1) == nullptr);
  CHECK(storage.size() == 0);
  CHECK(storage.bytes() == 0);
}

TEST_CASE("an older store does not shorten the life of what is there") {
  Storage storage;
  CHECK(storage.store(key(1), to_bytes("new"), kNow + 100, kNow) == StoreOutcome::stored);
  CHECK(storage.store(key(1), to_bytes("old"), kNow + 5, kNow) == StoreOutcome::older);
  REQUIRE(storage.get(key(1), kNow + 50) != nullptr);
  CHECK(*storage.get(key(1), kNow + 50)->regular() == to_bytes("new"));
}

TEST_CASE("ends that are past, no numbers, or more than a day ahead are refused") {
  Storage storage;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(storage.store(key(1), {}, kNow - 1, kNow) == StoreOutcome::expired);
  CHECK(storage.store(key(1), {}, nan, kNow) == StoreOutcome::expired);
  CHECK(storage.store(key(1), {}, infinity, kNow) == StoreOutcome::too_far);
  CHECK(storage.store(key(1), {}, kNow + 24 * 3600 + 1, kNow) == StoreOutcome::too_far);
  CHECK(storage.store_entry(key(1), subkey(1), {}, nan, kNow) == StoreOutcome::expired);
  CHECK(storage.store_entry(key(1), subkey(1), {}, kNow + 90'000, kNow) == StoreOutcome::too_far);
  CHECK(storage.store(key(1), {}, kNow + 24 * 3600, kNow) == StoreOutcome::stored);
}

TEST_CASE("values, entries and dictionaries have their limits") {
  StorageLimits limits;
  limits.max_entry_bytes = 1000;
  limits.max_dictionary_bytes = 10 * (501 + Storage::kOverhead);
  Storage storage(limits);
  CHECK(storage.store(key(1), Bytes(1001), kNow + 9, kNow) == StoreOutcome::too_large);
  CHECK(storage.store(key(1), Bytes(1000), kNow + 9, kNow) == StoreOutcome::stored);
  CHECK(storage.store_entry(key(2), subkey(1), Bytes(1000), kNow + 9, kNow) ==
        StoreOutcome::too_large);
  for (int i = 0; i < 10; ++i)
    CHECK(storage.store_entry(key(2), subkey(i), Bytes(500), kNow + 9, kNow) ==
          StoreOutcome::stored);
  CHECK(storage.store_entry(key(2), subkey(10), Bytes(500), kNow + 9, kNow) ==
        StoreOutcome::too_large);
  // Replacing an entry needs no more room.
  CHECK(storage.store_entry(key(2), subkey(3), Bytes(500), kNow + 10, kNow) ==
        StoreOutcome::stored);
  // What has expired makes room.
  CHECK(storage.store_entry(key(2), subkey(10), Bytes(500), kNow + 9, kNow + 9.5) ==
        StoreOutcome::expired);
  CHECK(storage.store_entry(key(2), subkey(10), Bytes(500), kNow + 20, kNow + 9.5) ==
        StoreOutcome::stored);
}

TEST_CASE("a sender is charged for what it brought, and refunded when that is gone") {
  StorageLimits limits;
  limits.max_sender_bytes = 10 * (100 + Storage::kOverhead);
  Storage storage(limits);
  for (int i = 0; i < 10; ++i)
    CHECK(storage.store(key(i), Bytes(100), kNow + 10 + i, kNow, sender(1)) ==
          StoreOutcome::stored);
  CHECK(storage.store(key(10), Bytes(100), kNow + 10, kNow, sender(1)) == StoreOutcome::quota);
  // Another sender has a quota of its own; we ourselves have none.
  CHECK(storage.store(key(10), Bytes(100), kNow + 50, kNow, sender(2)) == StoreOutcome::stored);
  CHECK(storage.store(key(11), Bytes(100), kNow + 50, kNow) == StoreOutcome::stored);
  // Renewing an own record costs nothing more.
  CHECK(storage.store(key(0), Bytes(100), kNow + 60, kNow, sender(1)) == StoreOutcome::stored);
  // Somebody else's newer value takes the charge over.
  CHECK(storage.store(key(1), Bytes(100), kNow + 60, kNow, sender(2)) == StoreOutcome::stored);
  CHECK(storage.bytes_of(sender(1)) == 9 * (100 + Storage::kOverhead));
  CHECK(storage.bytes_of(sender(2)) == 2 * (100 + Storage::kOverhead));
  storage.expire(kNow + 1000);
  CHECK(storage.bytes() == 0);
  CHECK(storage.bytes_of(sender(1)) == 0);
}

TEST_CASE("tiny records cost their bookkeeping") {
  StorageLimits limits;
  limits.max_sender_bytes = 100 * Storage::kOverhead;
  Storage storage(limits);
  int taken = 0;
  for (int i = 0; i < 1000; ++i)
    if (storage.store(key(i), {}, kNow + 10, kNow, sender(1)) == StoreOutcome::stored) ++taken;
  CHECK(taken == 100);
}

TEST_CASE("a full store drops the greediest sender's records, never for the greediest") {
  StorageLimits limits;
  limits.max_sender_bytes = 1u << 20;
  limits.max_bytes = 1u << 20;
  Storage storage(limits);
  int n = 0;
  while (storage.store(key(n), Bytes(4000), kNow + 1000, kNow, sender(1)) == StoreOutcome::stored)
    ++n;
  CHECK(n > 200);
  std::size_t const before = storage.bytes();
  CHECK(storage.store(key(100'000), Bytes(4000), kNow + 1000, kNow, sender(99)) ==
        StoreOutcome::stored);
  CHECK(storage.bytes() < before);
  CHECK(storage.get(key(100'000), kNow) != nullptr);
  // Filled by many: the one who brings most does not push the others out.
  for (int i = 0; i < 2000; ++i)
    (void)storage.store(key(200'000 + i), Bytes(4000), kNow + 1000, kNow, sender(2 + i % 20));
  CHECK(storage.bytes() <= limits.max_bytes);
  CHECK(storage.get(key(100'000), kNow) != nullptr);
}

TEST_CASE("charges stay right through any sequence of stores, ends and erasures") {
  StorageLimits limits;
  limits.max_sender_bytes = 20'000;
  limits.max_bytes = 60'000;
  limits.max_dictionary_bytes = 8'000;
  limits.max_keys = 40;
  Storage storage(limits);
  std::uint64_t state = 1;
  auto const random = [&](std::uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % bound);
  };
  double now = kNow;
  for (int i = 0; i < 20'000; ++i) {
    now += random(10) * 0.1;
    Id const where = key(random(50));
    PeerId const who = random(8) == 0 ? PeerId() : sender(random(6));
    auto const size = static_cast<std::size_t>(random(600));
    double const end = now + random(100) - 2;
    if (random(20) == 0)
      storage.erase(where);
    else if (random(2) == 0)
      (void)storage.store(where, Bytes(size), end, now, who);
    else
      (void)storage.store_entry(where, subkey(random(10)), Bytes(size), end, now, who);
    CHECK(storage.size() <= limits.max_keys);
    if (random(10) == 0) (void)storage.get(where, now);
  }
  std::size_t held = 0;
  for (auto const& k : storage.keys(now)) {
    auto const* stored = storage.get(k, now);
    if (auto const* value = stored->regular()) held += value->size() + Storage::kOverhead;
    if (auto const* dictionary = stored->dictionary())
      for (auto const& [s, entry] : dictionary->entries())
        held += s.size() + entry.value.size() + Storage::kOverhead;
  }
  CHECK(storage.bytes() == held);
  storage.expire(now + 1e6);
  CHECK(storage.bytes() == 0);
  for (int i = 0; i < 6; ++i) CHECK(storage.bytes_of(sender(i)) == 0);
}

TEST_CASE("a limited cache drops what ends first") {
  StorageLimits limits;
  limits.max_keys = 2;
  Storage cache(limits);
  (void)cache.store(key(1), {}, kNow + 30, kNow);
  (void)cache.store(key(2), {}, kNow + 10, kNow);
  (void)cache.store(key(3), {}, kNow + 20, kNow);
  CHECK(cache.size() == 2);
  CHECK(cache.get(key(2), kNow) == nullptr);
}

TEST_CASE("certified records stay by version, whatever ends later") {
  Storage storage;
  storage.set_certify(by_letter);
  CHECK(storage.store(key(1), to_bytes("junk"), kNow + 1000, kNow) == StoreOutcome::stored);
  // A certified value displaces an uncertified one that ends later.
  CHECK(storage.store(key(1), to_bytes("v1"), kNow + 10, kNow) == StoreOutcome::stored);
  CHECK(storage.store(key(1), to_bytes("junk"), kNow + 5000, kNow) == StoreOutcome::older);
  CHECK(storage.store_entry(key(1), subkey(1), to_bytes("v9"), kNow + 5000, kNow) ==
        StoreOutcome::older);
  CHECK(storage.store(key(1), to_bytes("v3"), kNow + 8, kNow) == StoreOutcome::stored);
  CHECK(storage.store(key(1), to_bytes("v2"), kNow + 5000, kNow) == StoreOutcome::older);
  CHECK(storage.store(key(1), to_bytes("v3"), kNow + 8, kNow) == StoreOutcome::older);
  CHECK(storage.store(key(1), to_bytes("v3"), kNow + 9, kNow) == StoreOutcome::stored);
  CHECK(storage.version(key(1)) == 3u);
  // It ends when it said, and then the key is free.
  CHECK(storage.store(key(1), to_bytes("junk"), kNow + 5000, kNow + 9.5) == StoreOutcome::stored);
}

TEST_CASE("a rule that comes later applies to what is there") {
  Storage storage;
  (void)storage.store(key(1), to_bytes("v1"), kNow + 10, kNow);
  storage.set_certify(by_letter);
  CHECK(storage.store(key(1), to_bytes("junk"), kNow + 20, kNow) == StoreOutcome::older);
  storage.set_certify(nullptr);
  CHECK(storage.store(key(1), to_bytes("junk"), kNow + 20, kNow) == StoreOutcome::stored);
}
