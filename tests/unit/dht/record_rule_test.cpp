// SPDX-License-Identifier: MIT
#include "core/dht/record_rule.hpp"

#include <doctest/doctest.h>

#include "tests/unit/dht/swarm.hpp"

using namespace waggle;
using namespace waggle::dht;
using waggle::test::DhtSwarm;

namespace {

/// "genuine N": version N.
class Genuine final : public RecordRule {
 public:
  [[nodiscard]] std::optional<std::uint64_t> version(Id const& key, ByteView value) const override {
    auto const text = as_text(value);
    if (key != Id::of_text("task") || !text.starts_with("genuine ")) return std::nullopt;
    return static_cast<std::uint64_t>(text.back() - '0');
  }
};

}  // namespace

TEST_CASE("who floods a task's key with later ends neither hides nor replaces the genuine record") {
  DhtSwarm swarm;
  swarm.grow(20);
  {
    std::vector<net::Registration> rules;
    // The flooder (node 3) and a few others do not know the rule, as hivemind's peers do not.
    for (std::size_t i = 0; i < 20; ++i)
      if (i != 3 && i % 4 != 0)
        rules.push_back(swarm.nodes[i]->dht.add_rule(std::make_shared<Genuine>()));
    Id const key = Id::of_text("task");
    double const now = swarm.world.unix_time();
    CHECK(swarm.store(5, {key, std::nullopt, to_bytes("genuine 2"), now + 600}));
    (void)swarm.store(3, {key, std::nullopt, to_bytes("forged"), now + 6000});
    (void)swarm.store(3, {key, Bytes{std::byte{1}}, to_bytes("forged"), now + 7000});
    (void)swarm.store(3, {key, std::nullopt, to_bytes("genuine 1"), now + 8000});  // a replay
    for (std::size_t const reader : {1u, 2u, 7u, 13u}) {
      auto const found = swarm.get(reader, key);
      REQUIRE(found.regular);
      CHECK(as_text(found.regular->value) == "genuine 2");
    }
    CHECK(swarm.store(6, {key, std::nullopt, to_bytes("genuine 3"), now + 300}));
    CHECK(as_text(swarm.get(9, key).regular->value) == "genuine 3");
  }
}
