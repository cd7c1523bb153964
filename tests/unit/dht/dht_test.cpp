// SPDX-License-Identifier: MIT
#include "core/dht/dht.hpp"

#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/unit/dht/swarm.hpp"

using namespace waggle;
using namespace waggle::dht;
using namespace std::chrono_literals;
using waggle::test::DhtNode;
using waggle::test::DhtSwarm;

namespace {

Bytes packed(wire::Msgpack value) {
  return value.encode();
}

Record regular(std::string_view key, std::string_view value, double expiration) {
  return {Id::of_text(key), std::nullopt, packed(value), expiration};
}

Record entry(std::string_view key,
             std::string_view subkey,
             std::string_view value,
             double expiration) {
  return {Id::of_text(key), packed(subkey), packed(value), expiration};
}

}  // namespace

TEST_CASE("what one of fifty nodes stores, every other one finds") {
  DhtSwarm swarm;
  swarm.grow(50);
  for (auto const& node : swarm.nodes) CHECK(node->dht.table_size() >= 20);
  double const end = swarm.world.unix_time() + 600;
  CHECK(swarm.store(7, regular("hive", "honey", end)));
  for (std::size_t i = 0; i < 50; ++i) {
    auto const found = swarm.get(i, Id::of_text("hive"));
    REQUIRE(found.regular);
    CHECK(found.regular->value == packed("honey"));
    CHECK(found.regular->expiration == end);
  }
}
