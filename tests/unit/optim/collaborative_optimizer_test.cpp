// SPDX-License-Identifier: MIT
#include "core/optim/collaborative_optimizer.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

#include "core/base/log.hpp"

#include "tests/unit/optim/swarm.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using test::OptimSwarm;

namespace {

// SGD on one machine, with the samples that the peers used in each epoch.
std::vector<float> reference(test::ToyModel const& model,
                             std::vector<OptimSwarm::Peer*> const& peers,
                             std::int64_t epochs) {
  std::vector<double> w(model.initial.begin(), model.initial.end());
  std::vector<double> velocity(w.size());
  for (std::int64_t e = 0; e < epochs; ++e) {
    std::vector<float> at(w.begin(), w.end());
    std::vector<float> sum(w.size());
    std::size_t n = 0;
    for (auto* p : peers)
      for (auto const s : p->trainer->used[e]) {
        model.add_gradient(at, s, sum);
        ++n;
      }
    for (std::size_t i = 0; i < w.size(); ++i) {
      velocity[i] =
          model.momentum * velocity[i] + static_cast<double>(sum[i]) / static_cast<double>(n);
      w[i] -= model.learning_rate * velocity[i];
    }
  }
  return {w.begin(), w.end()};
}

std::vector<OptimSwarm::Peer*> all(OptimSwarm& swarm) {
  std::vector<OptimSwarm::Peer*> peers;
  for (auto const& p : swarm.peers) peers.push_back(p.get());
  return peers;
}

double distance(std::vector<float> const& a, std::vector<float> const& b) {
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::abs(double(a[i]) - b[i]));
  return d;
}

}  // namespace

TEST_CASE("CollaborativeOptimizer: alone it is a plain trainer, bit for bit") {
  OptimSwarm swarm;
  auto const model = test::logistic();
  auto& peer = swarm.add(model);
  peer.stop_at = 20;
  swarm.start(peer);
  CHECK(swarm.run_until_epoch({&peer}, 20, 600s));
  REQUIRE(peer.ended);
  CHECK(peer.ended->has_value());
  // The same in twelve lines, float32 as a trainer does it.
  std::vector<float> w = model.initial;
  std::vector<float> velocity(w.size());
  std::uint64_t sample = 10'000;
  for (int e = 0; e < 20; ++e) {
    std::vector<float> sum(w.size());
    for (int i = 0; i < 128; ++i) model.add_gradient(w, sample++, sum);
    for (std::size_t i = 0; i < w.size(); ++i) {
      velocity[i] = model.momentum * velocity[i] + sum[i] / 128.0F;
      w[i] -= model.learning_rate * velocity[i];
    }
  }
  CHECK(peer.trainer->w == w);
  // And without any waiting: 16 batches of 40 ms an epoch.
  for (auto const& r : peer.reports) CHECK(r.took <= 650ms);
  CHECK(peer.trainer->steps == 20);
}

TEST_CASE(
    "CollaborativeOptimizer: 2, 4 and 8 peers together are one machine with all their samples") {
  for (std::size_t const n : test::variants(2, {2u, 4u, 8u})) {
    CAPTURE(n);
    OptimSwarm swarm(n);
    auto const model = test::quadratic();
    for (std::size_t i = 0; i < n; ++i) {
      auto& p = swarm.add(model);
      p.trainer->batch_time = 40ms + 7ms * static_cast<int>(i);
      p.trainer->batch_size = 4 + i;  // unequal on purpose
      p.stop_at = 15;
    }
    for (auto& p : swarm.peers) swarm.start(*p);
    bool const there = swarm.run_until_epoch(all(swarm), 15, 600s);
    for (auto& p : swarm.peers)
      for (auto const& r : p->reports) {
        CAPTURE(r.epoch);
        CAPTURE(r.why);
        CHECK(r.averaged);
        CHECK((r.gradients ? r.gradients->group.size() : 0) == n);
      }
    REQUIRE(there);
    auto const expected = reference(model, all(swarm), 15);
    for (auto& p : swarm.peers) CHECK(distance(p->trainer->w, expected) < 1e-4);
  }
}

TEST_CASE("CollaborativeOptimizer: a trainer that dies five times in a row pauses, and may go on") {
  OptimSwarm swarm;
  auto& peer = swarm.add(test::quadratic());
  peer.stop_at = 4;
  swarm.start(peer);
  std::vector<std::string> given_up;
  peer.optimizer->on_trainer_given_up([&](Error const& why) {
    given_up.push_back(why.detail);
    peer.optimizer->pause();
  });
  REQUIRE(swarm.run_until_epoch({&peer}, 1, 60s));
  // Four and a batch between are none too many.
  peer.trainer->deaths = 4;
  REQUIRE(swarm.run_until_epoch({&peer}, 2, 60s));
  CHECK(given_up.empty());
  peer.trainer->deaths = 7;
  swarm.run_for(60s);
  CHECK(given_up == std::vector<std::string>{"killed, 2 to come"});
  CHECK(!peer.ended);
  CHECK(peer.trainer->deaths == 2);
  CHECK(peer.optimizer->status().phase == "paused");
  // The count began anew: two more deaths are borne.
  peer.optimizer->resume();
  REQUIRE(swarm.run_until_epoch({&peer}, 4, 60s));
  REQUIRE(peer.ended);
  CHECK(peer.ended->has_value());
  CHECK(given_up.size() == 1);
}

TEST_CASE(
    "CollaborativeOptimizer: losses of a trainer are told, and counted on from an earlier run") {
  OptimSwarm swarm;
  auto& peer = swarm.add(test::quadratic());
  peer.stop_at = 1000;
  peer.trainer->deaths = 1;
  swarm.start(peer);
  std::vector<int> told;
  int given_up = 0;
  peer.optimizer->set_trainer_losses(3);
  peer.optimizer->on_trainer_losses([&](int losses) { told.push_back(losses); });
  peer.optimizer->on_trainer_given_up([&](Error const&) {
    ++given_up;
    peer.optimizer->pause();
  });
  REQUIRE(swarm.run_until_epoch({&peer}, 1, 60s));
  CHECK(told == std::vector{4, 0});
  CHECK(given_up == 0);
  peer.optimizer->set_trainer_losses(4);
  peer.trainer->deaths = 1;
  swarm.run_for(10s);
  CHECK(told == std::vector{4, 0});
  CHECK(given_up == 1);
  CHECK(peer.optimizer->status().phase == "paused");
}

TEST_CASE("CollaborativeOptimizer: a trainer given up ends it where nobody listens") {
  OptimSwarm swarm;
  auto& peer = swarm.add(test::quadratic());
  peer.trainer->deaths = 5;
  swarm.start(peer);
  swarm.run_for(60s);
  REQUIRE(peer.ended);
  REQUIRE(!peer.ended->has_value());
  CHECK(peer.ended->error().code == Errc::closed);
  CHECK(peer.ended->error().detail.ends_with("killed, 0 to come"));
}
