// SPDX-License-Identifier: MIT
#include "core/task/record_rule.hpp"

#include <random>

#include <doctest/doctest.h>

#include "core/task/record.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::task;

namespace {

crypto::Identity identity(int n) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(n);
  return crypto::Identity::from_seed(seed);
}

Bytes value_of(crypto::Identity const& key, std::string prefix, std::uint64_t version) {
  TaskRecord record;
  record.prefix = std::move(prefix);
  record.version = version;
  return wire::Msgpack(record.seal(key)).encode();
}

dht::Id place(crypto::Identity const& key, std::string_view prefix) {
  return dht::Id::of_text(TaskRecord::key_text(key.peer_id(), prefix));
}

}  // namespace

TEST_SUITE("TaskRecordRule") {
  TEST_CASE("recognises a genuine record at its own place, with its version") {
    TaskRecordRule const rule;
    auto const key = identity(1);
    CHECK(rule.version(place(key, "p"), value_of(key, "p", 7)) == 7u);
    CHECK(rule.version(place(key, "p"), value_of(key, "p", 0)) == 0u);
  }

  TEST_CASE("recognises nothing else") {
    TaskRecordRule const rule;
    auto const key = identity(1);
    auto const here = place(key, "p");
    CHECK(!rule.version(place(key, "q"), value_of(key, "p", 7)));
    CHECK(!rule.version(here, value_of(key, "q", 7)));
    CHECK(!rule.version(here, value_of(identity(2), "p", 7)));
    CHECK(!rule.version(here, wire::Msgpack("waggle/task/1").encode()));
    CHECK(!rule.version(here, wire::Msgpack(to_bytes("waggle/task/1")).encode()));
    CHECK(!rule.version(here, {}));
    CHECK(!rule.version(here, Bytes(200'000, std::byte{0xc4})));
    auto good = value_of(key, "p", 7);
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
      auto changed = good;
      changed[random() % changed.size()] ^= static_cast<std::byte>(1 + random() % 255);
      CHECK(!rule.version(here, changed));
    }
    good.push_back({});
    CHECK(!rule.version(here, good));
  }
}
