// SPDX-License-Identifier: MIT
#include "core/averaging/averager.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "tests/unit/averaging/swarm.hpp"

using namespace waggle;
using namespace waggle::averaging;
using namespace std::chrono_literals;
using compress::CompressionType;

namespace {

Schema schema_of(std::vector<std::int64_t> const& sizes) {
  Schema schema;
  for (auto const n : sizes) schema.push_back({{n}, false});
  return schema;
}

void fill(test::Swarm& swarm, std::size_t n) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (auto& peer : swarm.peers) {
    peer->values.resize(n);
    for (auto& v : peer->values) v = normal(random);
  }
}

std::vector<double> weighted_mean(test::Swarm const& swarm) {
  std::vector<double> mean(swarm.peers[0]->values.size());
  double weight = 0;
  for (auto const& peer : swarm.peers) {
    weight += peer->weight;
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += peer->weight * peer->values[i];
  }
  for (auto& m : mean) m /= weight;
  return mean;
}

double largest_error(std::vector<float> const& values, std::vector<double> const& mean) {
  double worst = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    worst = std::max(worst, std::abs(values[i] - mean[i]));
  return worst;
}

}  // namespace

TEST_CASE("Averager: groups of 2, 4 and 8 come to the weighted mean with every codec") {
  struct Case {
    CompressionType codec;
    double tolerance;
  };

  for (auto const c : {Case{CompressionType::none, 1e-5},
                       {CompressionType::float16, 0.01},
                       {CompressionType::uniform_8bit, 1.5}}) {
    for (std::size_t const n : {2u, 4u, 8u}) {
      CAPTURE(n);
      CAPTURE(static_cast<int>(c.codec));
      test::Swarm swarm(n);
      auto options = swarm.options(schema_of({5000, 70, 20'000}));
      options.compression = compress::Policy(c.codec);
      options.part_bytes = 4096;
      swarm.add(n, options);
      fill(swarm, 25'070);
      for (std::size_t i = 0; i < n; ++i) swarm.peers[i]->weight = 1.0 + static_cast<double>(i);
      auto const mean = weighted_mean(swarm);
      swarm.run_round();
      for (auto const& peer : swarm.peers) {
        REQUIRE(peer->outcome);
        REQUIRE_MESSAGE(*peer->outcome, (*peer->outcome ? "" : peer->outcome->error().detail));
        auto const& report = **peer->outcome;
        CHECK(report.group.size() == n);
        CHECK(report.fraction_averaged == 1.0);
        CHECK(report.banned.empty());
        CHECK(report.failed_reducers.empty());
        CHECK(report.bytes_sent > 0);
        CHECK(largest_error(peer->values, mean) < c.tolerance);
        CHECK(peer->formed <= 300ms);
      }
    }
  }
}

TEST_CASE("Averager: four peers form one group within 300 ms, also when they begin 100 ms apart") {
  for (auto const stagger : {0ms, 1ms, 5ms, 20ms, 100ms}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(stagger.count());
      CAPTURE(seed);
      test::Swarm swarm(seed);
      swarm.add(4, swarm.options(schema_of({100})));
      fill(swarm, 100);
      auto const began = swarm.world.now();
      swarm.run_round(stagger);
      CHECK(swarm.world.now() - began <= 300ms + 3 * stagger);
      for (auto const& peer : swarm.peers) {
        REQUIRE(*peer->outcome);
        CHECK((*peer->outcome)->group.size() == 4);
        CHECK(peer->formed <= 300ms + 3 * stagger);
      }
      CHECK(swarm.peers.back()->formed <= 300ms);
    }
  }
}

TEST_CASE("Averager: a group forms within seconds over home lines") {
  test::Swarm swarm(3, sim::links::residential(3));
  swarm.add(6, swarm.options(schema_of({100})));
  fill(swarm, 100);
  swarm.run_round(10ms);
  for (auto const& peer : swarm.peers) {
    REQUIRE(*peer->outcome);
    CHECK((*peer->outcome)->group.size() == 6);
    CHECK(peer->formed <= 6s);
  }
}

TEST_CASE(
    "Averager: without anybody expected the leader waits for its declared time, as hivemind does") {
  test::Swarm swarm(1);
  swarm.add(3, swarm.options(schema_of({100})), false);
  fill(swarm, 100);
  swarm.run_round(10ms);
  for (auto const& peer : swarm.peers) {
    REQUIRE(*peer->outcome);
    CHECK((*peer->outcome)->group.size() == 3);
    CHECK(peer->formed > 4s);
    CHECK(peer->formed < 6s);
  }
}

TEST_CASE("Averager: a full group begins at once") {
  test::Swarm swarm(1);
  auto options = swarm.options(schema_of({100}));
  options.target_group_size = 2;
  swarm.add(2, options, false);
  fill(swarm, 100);
  swarm.run_round(10ms);
  for (auto const& peer : swarm.peers) {
    REQUIRE(*peer->outcome);
    CHECK(peer->formed < 300ms);
  }
}

TEST_CASE("Averager: alone it finds nobody, says so and leaves at its deadline") {
  test::Swarm swarm(1);
  swarm.add(1, swarm.options(schema_of({100})));
  fill(swarm, 100);
  swarm.run_round({}, 12s);
  REQUIRE_FALSE(*swarm.peers[0]->outcome);
  CHECK(swarm.peers[0]->outcome->error().code == Errc::not_found);
  CHECK(swarm.peers[0]->took <= 13s);
}

TEST_CASE("Averager: weights of zero change nothing and never become NaN") {
  test::Swarm swarm(1);
  swarm.add(3, swarm.options(schema_of({1000})));
  fill(swarm, 1000);
  for (auto const& peer : swarm.peers) peer->weight = 0;
  auto const before = swarm.peers[1]->values;
  swarm.run_round();
  for (auto const& peer : swarm.peers) {
    REQUIRE(*peer->outcome);
    CHECK(compress::all_finite(peer->values));
  }
  CHECK(swarm.peers[1]->values == before);
}

TEST_CASE("Averager: who has weight zero takes the others' mean") {
  test::Swarm swarm(1);
  swarm.add(3, swarm.options(schema_of({1000})));
  fill(swarm, 1000);
  swarm.peers[2]->weight = 0;
  auto const mean = weighted_mean(swarm);
  swarm.run_round();
  for (auto const& peer : swarm.peers) CHECK(largest_error(peer->values, mean) < 1e-5);
}

TEST_CASE("Averager: client peers take part, send all their parts and reduce none") {
  test::Swarm swarm(2);
  auto options = swarm.options(schema_of({9000, 20}));
  options.part_bytes = 2048;
  swarm.add(2, options);
  options.client_mode = true;
  swarm.add(2, options);
  fill(swarm, 9020);
  auto const mean = weighted_mean(swarm);
  swarm.run_round();
  for (auto const& peer : swarm.peers) {
    REQUIRE_MESSAGE(*peer->outcome, (*peer->outcome ? "" : peer->outcome->error().detail));
    CHECK((*peer->outcome)->group.size() == 4);
    CHECK((*peer->outcome)->fraction_averaged == 1.0);
    CHECK(largest_error(peer->values, mean) < 1e-5);
  }
}

TEST_CASE(
    "Averager: values that are not finite are found before anything is sent, and nobody waits for "
    "them") {
  test::Swarm swarm(1);
  swarm.add(3, swarm.options(schema_of({1000})));
  fill(swarm, 1000);
  swarm.peers[1]->values[17] = NAN;
  swarm.run_round();
  REQUIRE_FALSE(*swarm.peers[1]->outcome);
  CHECK(swarm.peers[1]->outcome->error().code == Errc::invalid);
  for (int const i : {0, 2}) {
    auto const& peer = *swarm.peers[static_cast<std::size_t>(i)];
    REQUIRE(*peer.outcome);
    CHECK(peer.took < 2s);
    CHECK(compress::all_finite(peer.values));
  }
}

TEST_CASE("Averager: a weight above the limit costs the liar its own parts") {
  for (double const lie : {1e30, 1e9, 1025.0}) {
    test::Swarm swarm(1);
    auto options = swarm.options(schema_of({6000}));
    options.part_bytes = 4096;
    options.weight_limit = [](PeerId const&) { return 1024.0; };
    swarm.add(4, options);
    fill(swarm, 6000);
    auto& liar = *swarm.peers[3];
    liar.weight = lie;
    auto const liar_id = liar.host->self();
    // What the others should come to: the mean without the liar, except in the liar's own parts.
    std::vector<double> mean(6000);
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t i = 0; i < 6000; ++i) mean[i] += swarm.peers[p]->values[i] / 3.0;
    swarm.run_round();
    for (std::size_t p = 0; p < 3; ++p) {
      auto const& peer = *swarm.peers[p];
      REQUIRE(*peer.outcome);
      CHECK(peer.took < 3s);
      auto const& banned = (*peer.outcome)->banned;
      CHECK(banned == std::vector<PeerId>{liar_id});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < 6000; ++i)
        wrong += std::abs(peer.values[i] - mean[i]) > 1e-4 ? 1 : 0;
      CHECK(wrong <= 2048);  // what the liar reduced
    }
  }
}

namespace {

Co<void> kill_later(test::Swarm& swarm, std::size_t i, Duration after, bool silent) {
  auto const slept = co_await swarm.world.sleep_for(after);
  if (slept) swarm.peers[i]->host->kill(silent);
}

Co<void> rounds_with_kill(test::Swarm& swarm, std::size_t victim, Duration after, bool silent) {
  Scope scope(swarm.world);
  scope.spawn("kill", kill_later(swarm, victim, after, silent));
  co_await swarm.rounds({}, 60s);
  (void)co_await scope.join();
}

}  // namespace

TEST_CASE(
    "Averager: a member killed at any moment costs its own parts, within seconds, never the "
    "round") {
  for (bool const silent : {false, true}) {
    for (auto const after : {1ms, 8ms, 12ms, 14ms, 18ms, 25ms, 30ms, 40ms, 60ms, 100ms}) {
      CAPTURE(after.count());
      CAPTURE(silent);
      test::Swarm swarm(5);
      auto options = swarm.options(schema_of({400'000}));
      options.part_bytes = 1u << 16;
      swarm.add(4, options);
      fill(swarm, 400'000);
      swarm.world.run(rounds_with_kill(swarm, 2, after, silent));
      for (std::size_t const p : {0u, 1u, 3u}) {
        auto const& peer = *swarm.peers[p];
        REQUIRE(peer.outcome);
        REQUIRE_MESSAGE(*peer.outcome, (*peer.outcome ? "" : peer.outcome->error().detail));
        CHECK(peer.took < (silent ? 20s : 8s));
        CHECK((*peer.outcome)->fraction_averaged >= 0.7);
        CHECK(compress::all_finite(peer.values));
      }
      // The next round is as fast as ever, without the dead one.
      swarm.peers[2]->averager.reset();
      swarm.run_round();
      for (std::size_t const p : {0u, 1u, 3u}) {
        REQUIRE(*swarm.peers[p]->outcome);
        CHECK((*swarm.peers[p]->outcome)->group.size() == 3);
        CHECK(swarm.peers[p]->formed < 1s);
      }
    }
  }
}

TEST_CASE("Averager: a group that another averager found averages here, too, without a search") {
  test::Swarm swarm(3);
  auto options = swarm.options(schema_of({1000, 1000, 1000}));
  swarm.add(3, options);
  for (std::size_t p = 0; p < 3; ++p) swarm.peers[p]->values.assign(3000, float(p));
  std::vector<std::unique_ptr<Averager>> others;
  auto second = options;
  second.prefix += "_second";
  for (auto const& peer : swarm.peers)
    others.push_back(std::make_unique<Averager>(*peer->host, *peer->dht, swarm.compute, second));
  std::vector<std::optional<Result<RoundReport>>> reports(3);
  auto member = [](test::Swarm& s,
                   Averager& other,
                   std::size_t p,
                   std::optional<Result<RoundReport>>& out) -> Co<void> {
    auto round = s.peers[p]->averager->begin({}, s.world.now() + 30s);
    auto const found = co_await round->assembled(s.world.now() + 20s);
    REQUIRE(found);
    auto following = other.follow(*round->group());
    CHECK(following->is_assembled());
    auto const first = co_await round->run(s.peers[p]->values, 1, s.world.now() + 20s);
    REQUIRE(first);
    // The second member does not come to the next round, and the others know.
    if (p == 1) co_return;
    std::vector<PeerId> const absent(1, s.peers[1]->host->self());
    following->without(absent);
    s.peers[p]->values.assign(3000, float(10 * p));
    auto const before = s.world.now();
    auto ran = co_await following->run(s.peers[p]->values, 1, s.world.now() + 20s);
    CHECK(s.world.now() - before < 1s);
    out.emplace(std::move(ran));
  };
  auto all = [&](test::Swarm& s) -> Co<void> {
    auto run = [](test::Swarm& w, std::vector<Co<void>> work) -> Co<void> {
      Scope scope(w.world);
      for (auto& w1 : work) scope.spawn("member", std::move(w1));
      (void)co_await scope.join();
    };
    std::vector<Co<void>> work;
    for (std::size_t p = 0; p < 3; ++p) work.push_back(member(s, *others[p], p, reports[p]));
    return run(s, std::move(work));
  };
  swarm.world.run(all(swarm));
  for (std::size_t const p : {0u, 2u}) {
    REQUIRE(reports[p]);
    REQUIRE(*reports[p]);
    auto const& report = **reports[p];
    CHECK(report.group.size() == 3);
    CHECK(report.matchmaking == Duration{});
    for (auto const& span : report.spans) {
      bool const theirs = report.group[span.reducer] == swarm.peers[1]->host->self();
      float const expected = theirs ? float(10 * p) : 10.0F;
      CHECK(swarm.peers[p]->values[span.offset] == expected);
    }
  }
  for (auto& other : others) swarm.world.run(other->close());
}
