// SPDX-License-Identifier: MIT
// Bad days of a swarm of optimizers: deaths, late comers, partitions, NaN, pauses.
#include "tests/unit/optim/swarm.hpp"

#include <doctest/doctest.h>

#include "core/optim/collaborative_optimizer.hpp"

#include "tests/unit/optim/checks.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

TEST_CASE("swarm: epochs of half a second are kept up by four peers on one network") {
  OptimSwarm swarm(3);
  swarm.options.target_batch_size = 400;
  auto const peers = start_all(swarm, 4, logistic());
  CHECK(swarm.run_until_epoch(peers, 40, 120s));
  for (auto* p : peers) {
    std::vector<Duration> took;
    for (auto const& r : p->reports) took.push_back(r.took);
    std::sort(took.begin(), took.end());
    // 400 samples at 4 × 200 samples/s take half a second, the two rounds next to nothing.
    CHECK(took[took.size() / 2] < 1s);
  }
  check_clean(peers);
}

TEST_CASE("swarm: a machine that dies costs one slow epoch at most") {
  for (auto const at : variants(1, {30ms, 160ms, 310ms})) {
    CAPTURE(at.count());
    OptimSwarm swarm(5);
    auto const peers = start_all(swarm, 4, logistic());
    REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
    swarm.run_for(at);
    swarm.kill(*peers[3]);
    Peers const rest{peers[0], peers[1], peers[2]};
    CHECK(swarm.run_until_epoch(rest, 25, 60s));
    for (auto* p : rest) {
      CHECK(slow_epochs(*p, 5, 2s) <= 1);
      CHECK(p->reports.back().gradients->group.size() == 3);
      CHECK(p->reports.back().averaged);
    }
    CHECK(spread(rest) < 1e-4);
    check_clean(rest);
  }
}

TEST_CASE("swarm: a machine that falls silent without a word costs one slow epoch at most") {
  OptimSwarm swarm(6);
  auto const peers = start_all(swarm, 4, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
  peers[3]->host->kill(true);
  Peers const rest{peers[0], peers[1], peers[2]};
  CHECK(swarm.run_until_epoch(rest, 15, 120s));
  for (auto* p : rest) CHECK(slow_epochs(*p, 5, 2s) <= 2);
  check_clean(rest);
}

TEST_CASE("swarm: a late joiner loads the state and then shares every round") {
  OptimSwarm swarm(7);
  auto peers = start_all(swarm, 3, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 10, 60s));
  auto& late = swarm.add(logistic());
  swarm.start(late);
  peers.push_back(&late);
  CHECK(swarm.run_until_epoch(peers, 40, 120s));
  CHECK(late.trainer->restores >= 1);
  REQUIRE(late.reports.size() > 5);
  CHECK(late.reports.front().epoch > 10);
  std::size_t shared = 0;
  for (auto const& r : late.reports)
    if (r.averaged && r.gradients->group.size() == 4) ++shared;
  CHECK(shared + 4 >= late.reports.size());
  for (auto* p : peers) CHECK(slow_epochs(*p, 10, 2s) <= 1);
  CHECK(spread(peers) < 1e-3);
  check_clean(peers);
}

TEST_CASE("swarm: four peers started at once are one swarm, whatever the seed") {
  for (std::uint64_t const seed : variants(1, {20, 21})) {
    CAPTURE(seed);
    OptimSwarm swarm(seed, sim::links::residential(seed));
    auto const peers = start_all(swarm, 4, logistic());
    CHECK(swarm.run_until_epoch(peers, 12, 120s));
    for (auto* p : peers) CHECK(p->reports.back().gradients->group.size() == 4);
    CHECK(spread(peers) < 1e-3);
    check_clean(peers);
  }
}

TEST_CASE("swarm: an honest peer one epoch ahead loses nothing") {
  OptimSwarm swarm(8);
  Peers peers;
  for (int i = 0; i < 4; ++i) peers.push_back(&swarm.add(logistic()));
  swarm.start(*peers[0], 6);
  for (int i = 1; i < 4; ++i) swarm.start(*peers[i], 5);
  CHECK(swarm.run_until_epoch(peers, 20, 120s));
  for (auto* p : peers) {
    CHECK(p->reports.back().gradients->group.size() == 4);
    CHECK(p->optimizer->status().ignored_peers.empty());
  }
  CHECK(spread(peers) < 1e-3);
}

TEST_CASE("swarm: a peer whose records stand still is neither waited for nor ignored for ever") {
  OptimSwarm swarm(9);
  auto const peers = start_all(swarm, 4, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
  peers[3]->optimizer->pause();
  Peers const rest{peers[0], peers[1], peers[2]};
  auto const before = rest[0]->optimizer->status().epoch;
  CHECK(swarm.run_until_epoch(rest, before + 20, 60s));
  peers[3]->optimizer->resume();
  auto const after = rest[0]->optimizer->status().epoch;
  CHECK(swarm.run_until_epoch(peers, after + 20, 60s));
  for (auto* p : peers) CHECK(p->reports.back().gradients->group.size() == 4);
  CHECK(spread(peers) < 1e-3);
}

TEST_CASE("swarm: a gradient that is not finite is neither sent nor applied") {
  OptimSwarm swarm(10);
  auto const peers = start_all(swarm, 3, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 3, 60s));
  peers[0]->trainer->poison_gradient = true;
  CHECK(swarm.run_until_epoch({peers[1], peers[2]}, 12, 120s));
  for (auto* p : peers) {
    CHECK(!p->trainer->applied_nonfinite);
    for (float const w : p->trainer->w) CHECK(std::isfinite(w));
  }
}

TEST_CASE("swarm: losses that stay non-finite bring the last good state back") {
  OptimSwarm swarm(11);
  auto& peer = swarm.add(logistic());
  swarm.start(peer);
  REQUIRE(swarm.run_until_epoch({&peer}, 6, 60s));
  peer.trainer->nan_batches = 3;
  swarm.run_for(1s);
  CHECK(peer.trainer->restores == 1);
  CHECK(peer.trainer->restored_epoch >= 5);
  CHECK(swarm.run_until_epoch({&peer}, 12, 60s));
}

TEST_CASE("swarm: the trainer's death costs what it had summed") {
  OptimSwarm swarm(12);
  auto const peers = start_all(swarm, 2, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 3, 60s));
  peers[0]->trainer->batches = 0;
  peers[0]->trainer->die_at_batch = 5;
  CHECK(swarm.run_until_epoch(peers, 12, 60s));
  CHECK(!peers[0]->ended);
  check_clean(peers);
}

TEST_CASE("swarm: finish ends with the next epoch, at once while paused") {
  OptimSwarm swarm(14);
  auto const peers = start_all(swarm, 2, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 3, 60s));
  peers[0]->optimizer->finish();
  swarm.run_for(3s);
  REQUIRE(peers[0]->ended);
  CHECK(peers[0]->ended->has_value());
  auto const epoch = peers[0]->reports.back().epoch;
  CHECK(epoch <= 6);
  peers[1]->optimizer->pause();
  swarm.run_for(60s);  // a round may be waiting for the other, which has not left yet
  peers[1]->optimizer->finish();
  swarm.run_for(10ms);
  CHECK(peers[1]->ended);
}

TEST_CASE("swarm: who leaves alone does not wait for a last average that nobody comes to") {
  OptimSwarm swarm(16);
  auto const peers = start_all(swarm, 3, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 3, 60s));
  peers[0]->optimizer->finish();
  while (!peers[0]->ended) swarm.run_for(20ms);
  auto const began = swarm.world.now();
  swarm.leave({peers[0]});
  CHECK(swarm.world.now() - began < 2s);
  CHECK(swarm.run_until_epoch({peers[1], peers[2]}, 12, 60s));
}

TEST_CASE("swarm: who leaves together averages for the last time") {
  OptimSwarm swarm(17);
  swarm.options.average_state_every = 1000;
  auto const peers = start_all(swarm, 3, logistic());
  for (auto* const p : {peers[0], peers[1]}) p->stop_at = 4;
  while (!peers[0]->ended || !peers[1]->ended) swarm.run_for(20ms);
  CHECK(peers[0]->trainer->states_averaged == 0);
  auto const began = swarm.world.now();
  swarm.leave({peers[0], peers[1]});
  CHECK(swarm.world.now() - began < 2s);
  for (auto* const p : {peers[0], peers[1]}) CHECK(p->trainer->states_averaged == 1);
}

TEST_CASE("swarm: the codecs of the task train as well") {
  OptimSwarm swarm(15);
  swarm.options.compression = *compress::Policy::parse("size_adaptive");
  swarm.options.state_compression = *compress::Policy::parse("float16");
  auto const peers = start_all(swarm, 4, logistic());
  CHECK(swarm.run_until_epoch(peers, 30, 60s));
  for (auto* p : peers) CHECK(p->trainer->test_loss() < 0.35);
  CHECK(spread(peers) < 0.02);
}
