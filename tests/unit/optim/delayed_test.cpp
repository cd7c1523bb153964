// SPDX-License-Identifier: MIT
// Delayed mode: averages are made while the next epoch's samples are computed.
#include <numeric>

#include <doctest/doctest.h>

#include "core/optim/collaborative_optimizer.hpp"

#include "tests/unit/optim/checks.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

// Every peer 150 ms from every other.
sim::Links far_apart() {
  auto links = sim::links::lan();
  links.latency = [](std::uint32_t, std::uint32_t) -> Duration { return 150ms; };
  return links;
}

optim::EpochReport const* report_of(OptimSwarm::Peer const& peer, std::int64_t epoch) {
  for (auto const& r : peer.reports)
    if (r.epoch == epoch) return &r;
  return nullptr;
}

}  // namespace

TEST_CASE("delayed: the epoch counts on while the average is made") {
  OptimSwarm swarm(16);
  swarm.options.delayed = true;
  swarm.options.target_batch_size = 400;
  auto const peers = start_all(swarm, 4, logistic());
  CHECK(swarm.run_until_epoch(peers, 30, 120s));
  for (auto* p : peers) {
    std::size_t local = 0;
    for (auto const& r : p->reports) {
      CAPTURE(r.epoch);
      CAPTURE(r.why);
      if (!r.averaged || r.gradients->group.size() != 4) ++local;
    }
    CHECK(local <= 1);
    CHECK(p->reports.back().averaged);
    CHECK(p->reports.back().gradients->group.size() == 4);
    CHECK(p->trainer->test_loss() < 0.35);
  }
  check_clean(peers);
  CHECK(spread(peers) < 0.05);
}

TEST_CASE("delayed: every sample counts once, to the epoch it was computed in") {
  OptimSwarm swarm(17);
  swarm.options.delayed = true;
  swarm.options.target_batch_size = 400;
  auto const peers = start_all(swarm, 3, logistic());
  for (std::size_t i = 0; i < peers.size(); ++i)
    peers[i]->trainer->batch_size = 6 + 2 * i;  // unequal on purpose
  REQUIRE(swarm.run_until_epoch(peers, 20, 120s));
  for (std::int64_t epoch = 2; epoch < 19; ++epoch) {
    CAPTURE(epoch);
    double brought = 0;
    std::vector<double> weights;
    for (auto* p : peers) {
      auto const* const r = report_of(*p, epoch);
      REQUIRE(r != nullptr);
      REQUIRE(r->gradients);
      brought += static_cast<double>(r->our_samples);
      // Only reducers see weights.
      auto const& seen = r->gradients->weights;
      weights.resize(seen.size(), -1);
      for (std::size_t i = 0; i < seen.size(); ++i) weights[i] = std::max(weights[i], seen[i]);
    }
    CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == brought);
    CHECK(brought >= 0.9 * 400);
    CHECK(brought <= 1.5 * 400);
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    auto const& p = *peers[i];
    std::uint64_t counted = p.optimizer->status().samples_this_epoch;
    for (auto const& r : p.reports) counted += r.our_samples;
    auto const computed = p.trainer->next_sample - 10'000 * (i + 1);
    // At most the epoch whose average is under way is in neither.
    CHECK(counted <= computed);
    CHECK(counted + 250 >= computed);
  }
}

TEST_CASE("delayed: on slow lines an epoch takes what its samples take, not its rounds as well") {
  Duration took[2];
  for (bool const delayed : {false, true}) {
    OptimSwarm swarm(18, far_apart());
    swarm.options.delayed = delayed;
    swarm.options.target_batch_size = 3200;  // 4 s of computing
    auto const peers = start_all(swarm, 4, logistic());
    REQUIRE(swarm.run_until_epoch(peers, 12, 400s));
    took[delayed ? 1 : 0] = median_epoch(*peers[0], 4);
    for (auto* p : peers) CHECK(p->reports.back().gradients->group.size() == 4);
  }
  MESSAGE("in time ", to_seconds(took[0]), " s, delayed ", to_seconds(took[1]), " s");
  CHECK(took[1] < 4500ms);
  CHECK(took[1] + 500ms < took[0]);
}

TEST_CASE("delayed: deaths and late comers are no worse than otherwise") {
  OptimSwarm swarm(19);
  swarm.options.delayed = true;
  swarm.options.target_batch_size = 400;
  auto const peers = start_all(swarm, 4, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 6, 60s));
  swarm.kill(*peers[3]);
  Peers rest{peers[0], peers[1], peers[2]};
  REQUIRE(swarm.run_until_epoch(rest, 16, 60s));
  for (auto* p : rest) CHECK(slow_epochs(*p, 6, 3s) <= 1);
  auto& late = swarm.add(logistic());
  swarm.start(late);
  rest.push_back(&late);
  CHECK(swarm.run_until_epoch(rest, 40, 60s));
  for (auto* p : rest) {
    CHECK(p->reports.back().averaged);
    CHECK(p->reports.back().gradients->group.size() == 4);
    CHECK(p->trainer->test_loss() < 0.35);
  }
  CHECK(spread(rest) < 0.05);
  check_clean(rest);
}

TEST_CASE("delayed: finish waits for the average that is under way") {
  OptimSwarm swarm(20);
  swarm.options.delayed = true;
  auto const peers = start_all(swarm, 2, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 4, 60s));
  peers[0]->optimizer->finish();
  swarm.run_for(3s);
  REQUIRE(peers[0]->ended);
  CHECK(peers[0]->ended->has_value());
  CHECK(peers[0]->reports.back().averaged);
}
