// SPDX-License-Identifier: MIT
// A swarm cut in two: both halves go on, and become one swarm again when they see each other.
#include <doctest/doctest.h>

#include "core/optim/collaborative_optimizer.hpp"

#include "tests/unit/optim/checks.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

struct Cut {
  OptimSwarm& swarm;
  std::size_t first;  ///< peers before this one are the first half
  bool on = false;

  explicit Cut(OptimSwarm& s, std::size_t n) : swarm(s), first(n) {
    swarm.network.links().cut = [this](std::uint32_t a, std::uint32_t b) {
      return on && (a < first) != (b < first);
    };
  }

  ~Cut() { swarm.network.links().cut = nullptr; }

  // Nothing passes; after `notice` the hosts see that their connections are gone.
  void make(Peers const& peers, Duration notice) {
    on = true;
    swarm.run_for(notice);
    for (std::size_t i = 0; i < first; ++i)
      for (std::size_t j = first; j < peers.size(); ++j)
        peers[i]->host->disconnect(peers[j]->host->self());
  }
};

bool together(Peers const& peers) {
  for (auto* p : peers) {
    auto const& r = p->reports.back();
    if (!r.averaged || !r.gradients || r.gradients->group.size() != peers.size()) return false;
  }
  return true;
}

// Seconds until a round of all; a negative number: never.
double seconds_to_heal(OptimSwarm& swarm, Peers const& peers, Duration limit) {
  auto const healed = swarm.world.now();
  while (swarm.world.now() < healed + limit) {
    swarm.run_for(200ms);
    if (together(peers)) return to_seconds(swarm.world.now() - healed);
  }
  return -1;
}

}  // namespace

TEST_CASE("partition: equal halves go on with their own gradients, and are one swarm again") {
  // After the shorter time all records still live; after the longer one nobody's does.
  for (Duration const away : {Duration(10s), Duration(180s)}) {
    CAPTURE(to_seconds(away));
    OptimSwarm swarm(13);
    Cut cut(swarm, 2);
    auto const peers = start_all(swarm, 4, logistic());
    if (away > 60s)  // in some hundred epochs
      for (auto* p : peers) p->trainer->batch_time = 200ms;
    REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
    auto const at = peers[0]->optimizer->status().epoch;
    cut.make(peers, 10s);
    swarm.run_for(away);
    for (auto* p : peers) {
      CHECK(p->optimizer->status().epoch > at + 20);
      CHECK(p->reports.back().gradients->group.size() == 2);
    }
    check_clean(peers);
    cut.on = false;
    auto const took = seconds_to_heal(swarm, peers, 300s);
    MESSAGE("one swarm after ", took, " s");
    CHECK(took >= 0);
    CHECK(took < 60);
    CHECK(swarm.run_until_epoch(peers, peers[0]->optimizer->status().epoch + 20, 60s));
    CHECK(together(peers));
    CHECK(spread(peers) < 1e-3);
    check_clean(peers);
  }
}

TEST_CASE("partition: the lesser half catches up, the greater one loses nothing") {
  OptimSwarm swarm(14);
  Cut cut(swarm, 3);
  auto const peers = start_all(swarm, 5, logistic());
  Peers const greater{peers[0], peers[1], peers[2]};
  Peers const lesser{peers[3], peers[4]};
  REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
  auto const at = peers[0]->optimizer->status().epoch;
  cut.make(peers, 10s);
  REQUIRE(swarm.run_until_epoch(greater, at + 60, 120s));
  auto const behind = peers[3]->optimizer->status().epoch;
  REQUIRE(behind < peers[0]->optimizer->status().epoch - 2);
  cut.on = false;
  auto const healed_at = peers[0]->optimizer->status().epoch;
  auto const restores = peers[0]->trainer->restores;
  double worst = 0;
  auto const took = [&] {
    auto const began = swarm.world.now();
    while (swarm.world.now() < began + 300s) {
      swarm.run_for(200ms);
      worst = std::max(worst, peers[0]->trainer->test_loss());
      if (together(peers)) return to_seconds(swarm.world.now() - began);
    }
    return -1.0;
  }();
  MESSAGE("one swarm after ", took, " s");
  CHECK(took >= 0);
  CHECK(took < 60);
  CHECK(peers[0]->trainer->restores == restores);
  for (auto* p : lesser) CHECK(p->trainer->restores >= 1);
  // The greater half went on, epoch by epoch, without a loss in what it had learnt.
  CHECK(worst < 0.35);
  for (auto* p : greater) {
    CHECK(slow_epochs(*p, healed_at, 2s) <= 1);
    std::int64_t last = healed_at;
    for (auto const& r : p->reports)
      if (r.epoch > healed_at) {
        CHECK(r.averaged);
        CHECK(r.epoch == last + 1);
        last = r.epoch;
      }
  }
  CHECK(swarm.run_until_epoch(peers, peers[0]->optimizer->status().epoch + 20, 60s));
  CHECK(together(peers));
  CHECK(spread(peers) < 1e-3);
  check_clean(peers);
}
