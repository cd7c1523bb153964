// SPDX-License-Identifier: MIT
// "Nobody is believed", with whole liars among whole honest peers.
#include <limits>

#include <doctest/doctest.h>

#include "tests/unit/optim/checks.hpp"
#include "tests/unit/optim/lies.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

Peers honest_four(OptimSwarm& swarm) {
  Peers peers;
  for (int i = 0; i < 4; ++i) peers.push_back(&swarm.add(test::logistic()));
  for (auto* p : peers) swarm.start(*p);
  return peers;
}

double median_batch(Peers const& peers, std::int64_t from, std::int64_t to) {
  std::vector<double> batches;
  for (std::int64_t e = from; e < to; ++e) {
    double n = 0;
    for (auto* p : peers) n += static_cast<double>(p->trainer->used[e].size());
    batches.push_back(n);
  }
  std::sort(batches.begin(), batches.end());
  return batches[batches.size() / 2];
}

}  // namespace

TEST_CASE("liars: what a record claims changes nothing for the others") {
  auto const lies =
      variants(1,
               {Lie{"everything", 1'000'000'000, 1'000'000'000'000'000, 1e30},
                Lie{"epoch 10^9", 1'000'000'000, {}, {}},
                Lie{"the last epoch", std::numeric_limits<std::int64_t>::max(), {}, {}},
                Lie{"10^15 samples", {}, 1'000'000'000'000'000, {}},
                Lie{"1e30 samples/s", {}, {}, 1e30}});
  for (auto const& lie : lies) {
    CAPTURE(lie.what);
    OptimSwarm swarm(40);
    auto const peers = honest_four(swarm);
    REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
    auto& liar = swarm.add_bare();
    liar.scope->spawn("liar", lie_on(swarm, liar, test::record_key(9), lie, *peers[0]));
    swarm.run_for(2s);
    auto const from = peers[0]->optimizer->status().epoch;
    CHECK(swarm.run_until_epoch(peers, from + 20, 120s));
    double const batch = median_batch(peers, from, from + 19);
    CHECK(batch >= 0.9 * 128);
    CHECK(batch <= 1.6 * 128);
    std::size_t slow = 0;
    for (auto const& r : peers[0]->reports)
      if (r.took > 2s) ++slow;
    CHECK(slow <= 1);
    auto const ignored = peers[0]->optimizer->status().ignored_peers;
    REQUIRE(ignored.size() == 1);
    CHECK(ignored[0].find("claims") != std::string::npos);
    // Nor for one who comes now.
    auto& late = swarm.add(test::logistic());
    swarm.start(late);
    auto const now = peers[0]->optimizer->status().epoch;
    CHECK(swarm.run_until_epoch({&late}, now + 5, 60s));
    CHECK(late.optimizer->status().epoch < now + 200);
    CHECK(late.trainer->test_loss() < 0.5);
  }
}

TEST_CASE(
    "liars: the true state under the label 10^9, or a wrong one under the true label, is not "
    "taken") {
  for (bool const wrong_values : {false, true}) {
    CAPTURE(wrong_values);
    OptimSwarm swarm(41);
    auto const peers = honest_four(swarm);
    REQUIRE(swarm.run_until_epoch(peers, 15, 60s));
    auto& liar = swarm.add_bare();
    averaging::StateSharingOptions sharing;
    sharing.prefix = "toy_state_averager";
    averaging::StateSharing donor(*liar.host, *liar.dht, swarm.compute, sharing);
    Lie const lie =
        wrong_values ? Lie{"wrong state", {}, {}, {}} : Lie{"label", 1'000'000'000, {}, {}};
    liar.scope->spawn("liar", lie_on(swarm, liar, test::record_key(9), lie, *peers[0]));
    auto const serve = [&] {
      auto s = std::make_shared<averaging::StateSnapshot>();
      s->epoch = wrong_values ? peers[0]->optimizer->status().epoch : 1'000'000'000;
      s->schema = peers[0]->trainer->facts().download;
      s->values = peers[0]->trainer->w;
      s->values.insert(
          s->values.end(), peers[0]->trainer->velocity.begin(), peers[0]->trainer->velocity.end());
      if (wrong_values)
        for (auto& v : s->values) v = -40 * v;
      s->has_test_loss = true;
      s->test_loss = wrong_values ? 1e9 : 0.2;
      donor.publish(s);
    };
    serve();
    swarm.run_for(1s);
    auto& late = swarm.add(test::logistic());
    swarm.start(late);
    for (int i = 0; i < 40; ++i) {
      swarm.run_for(100ms);
      serve();
    }
    auto const now = peers[0]->optimizer->status().epoch;
    CHECK(swarm.run_until_epoch({&late}, now + 10, 60s));
    CHECK(late.optimizer->status().epoch < now + 100);
    CHECK(late.trainer->test_loss() < 0.4);
    for (auto* p : peers) CHECK(p->trainer->test_loss() < 0.4);
    swarm.world.run(donor.close());
  }
}

TEST_CASE("liars: a weight of 1e30 in a round is refused, and the round goes on") {
  OptimSwarm swarm(42);
  auto const peers = honest_four(swarm);
  REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
  auto& liar = swarm.add_bare();
  averaging::AveragerOptions o;
  o.prefix = "toy_grad_averager";
  o.class_name = "GradientAverager";
  o.schema = peers[0]->trainer->facts().parameters;
  // As everybody declares; a leader that declares less sets the pace, in hivemind too.
  o.min_matchmaking_time = swarm.options.matchmaking_time;
  averaging::Averager averager(*liar.host, *liar.dht, swarm.compute, o);
  liar.scope->spawn("liar",
                    lie_on(swarm, liar, test::record_key(9), Lie{"weight", {}, {}, {}}, *peers[0]));
  auto join =
      [](OptimSwarm& s, averaging::Averager& a, std::size_t n, std::size_t& rounds) -> Co<void> {
    for (;;) {
      std::vector<float> values(n, 1e6F);
      averaging::StepOptions step;
      step.weight = 1e30;
      auto const deadline = s.world.now() + 10s;
      auto const done = co_await a.step(values, std::move(step), deadline);
      if (done) ++rounds;
      if (!done && done.error().code == Errc::cancelled) co_return;
      auto const slept = co_await s.world.sleep_for(50ms);
      if (!slept) co_return;
    }
  };
  std::size_t rounds = 0;
  liar.scope->spawn("weights", join(swarm, averager, peers[0]->trainer->w.size(), rounds));
  auto const from = peers[0]->optimizer->status().epoch;
  CHECK(swarm.run_until_epoch(peers, from + 8, 240s));
  bool banned = false;
  for (auto* p : peers) {
    for (auto const& r : p->reports)
      if (r.gradients && !r.gradients->banned.empty()) banned = true;
    CHECK(p->trainer->test_loss() < 0.4);
    CHECK(!p->trainer->applied_nonfinite);
  }
  CHECK(banned);
  swarm.world.run(liar.scope->close());
  swarm.world.run(averager.close());
}
