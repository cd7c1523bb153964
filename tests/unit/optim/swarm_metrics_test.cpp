// SPDX-License-Identifier: MIT
#include "core/optim/swarm_metrics.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "core/dht/rsa_validator.hpp"
#include "core/dht/schema_validator.hpp"

#include "tests/unit/optim/swarm.hpp"

using namespace waggle;
using namespace waggle::optim;
using namespace std::chrono_literals;

namespace {

LocalMetrics claim(std::int64_t step, double mean, std::int64_t mini_steps = 10) {
  return {step, 100, 640, mean * static_cast<double>(mini_steps), mini_steps};
}

wire::Msgpack with(std::string const& field, wire::Msgpack value) {
  auto map = *claim(7, 0.5).to_msgpack().get<wire::Msgpack::Map>();
  for (auto& [key, old] : map)
    if (*key.get<std::string>() == field) old = std::move(value);
  return map;
}

struct Teller {
  Teller(test::OptimSwarm& swarm, std::size_t n) : peer(swarm.add_bare()) {
    std::shared_ptr<crypto::RecordKey const> const key(std::shared_ptr<void>(),
                                                       &test::record_key(n));
    signing = peer.dht->add_validator(std::make_shared<dht::RsaValidator>(key));
    metrics = std::make_unique<SwarmMetrics>(*peer.dht, *key, "toy");
  }

  test::OptimSwarm::Peer& peer;
  net::Registration signing;
  std::unique_ptr<SwarmMetrics> metrics;
};

}  // namespace

TEST_SUITE("SwarmMetrics") {
  TEST_CASE("a record comes back equal, and is what hivemind's schema asks for") {
    auto const ours = claim(7, 0.5);
    auto const bytes = ours.to_msgpack().encode();
    auto const decoded = wire::Msgpack::decode(bytes);
    REQUIRE(decoded);
    auto const back = LocalMetrics::from_msgpack(*decoded);
    REQUIRE(back);
    CHECK(*back == ours);
    auto const schema = dht::metrics_schema("run");
    REQUIRE(schema.fields.size() == 5);
    for (auto const& field : schema.fields) CHECK(decoded->find(field.name) != nullptr);
  }

  TEST_CASE("what is no such record is refused") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (auto const& value : {with("step", -1),
                              with("step", 7.0),
                              with("step", std::numeric_limits<std::int64_t>::max()),
                              with("samples_per_second", -0.5),
                              with("samples_per_second", 3),
                              with("loss", nan),
                              with("loss", "low"),
                              with("mini_steps", -3),
                              wire::Msgpack("text"),
                              wire::Msgpack(),
                              wire::Msgpack(wire::Msgpack::Map{})})
      CHECK(!LocalMetrics::from_msgpack(value));
  }

  TEST_CASE("the swarm's loss is the middle of near claims, so that a liar moves it little") {
    std::vector<LocalMetrics> claims{claim(100, 0.4), claim(101, 0.5), claim(99, 0.6)};
    CHECK(swarm_loss(claims, 100)->loss == doctest::Approx(0.5));
    CHECK(swarm_loss(claims, 100)->peers == 3);
    claims.push_back(claim(100, -1e300));
    CHECK(swarm_loss(claims, 100)->loss == doctest::Approx(0.45));
    // Far epochs and epochs without a sample say nothing.
    claims.push_back(claim(100 + SwarmMetrics::kNearEpochs + 1, 9));
    claims.push_back(claim(0, 9));
    claims.push_back({100, 0, 0, 0, 0});
    CHECK(swarm_loss(claims, 100)->peers == 4);
  }

  TEST_CASE("without a claim there is no loss") {
    CHECK(!swarm_loss({}, 5));
    std::vector<LocalMetrics> const far{claim(1000, 0.5)};
    CHECK(!swarm_loss(far, 5));
  }

  TEST_CASE(
      "peers learn of each other's losses; who ends no epoch looks seldom, who does at once") {
    test::OptimSwarm swarm(70);
    Teller a(swarm, 0);
    Teller b(swarm, 1);
    constexpr std::uint64_t kOwnSearches = 2;  // the DHT's, each five minutes
    auto const searches = [&b] { return b.peer.dht->counters().searches; };
    auto const before = searches();
    swarm.run_for(600s);
    // Without a loss of ours there is nothing to compare: the DHT's own searches only.
    CHECK(searches() - before <= kOwnSearches * 2);
    a.metrics->ended(claim(7, 0.5));
    swarm.run_for(1s);
    b.metrics->ended(claim(7, 0.7));
    swarm.run_for(1s);
    REQUIRE(b.metrics->loss());
    CHECK(b.metrics->loss()->peers == 2);
    CHECK(b.metrics->loss()->loss == doctest::Approx(0.6));

    CHECK(a.metrics->loss()->peers == 1);
    swarm.run_for(31s);
    CHECK(a.metrics->loss()->peers == 2);

    auto const told = searches();
    swarm.run_for(900s);
    CHECK(searches() - told >= 5);
    CHECK(searches() - told <= 5 + kOwnSearches * 3);
    a.metrics->ended(claim(8, 0.3));
    b.metrics->ended(claim(8, 0.5));
    swarm.run_for(31s);
    CHECK(b.metrics->loss()->loss == doctest::Approx(0.4));
    swarm.world.run(a.metrics->close());
    swarm.world.run(b.metrics->close());
  }
}
