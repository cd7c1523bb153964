// SPDX-License-Identifier: MIT
// A whole liar in every group: it averages its part of the vector into whatever it likes.
#include <doctest/doctest.h>

#include "core/averaging/averager.hpp"

#include "tests/unit/optim/checks.hpp"
#include "tests/unit/optim/lies.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

// A reducer's elements must be many for their signs to say something; a loud lie, which is all that
// is told where time is short, is found among few.
constexpr std::size_t kWidth = kWhole ? 400 : 40;
constexpr double kHuge = 1e12;  // what the liar weighs in its own sums

/// Joins every group of one averager and answers with `lie` for its own part.
Co<void> reduce_lies(OptimSwarm& swarm,
                     averaging::Averager& averager,
                     std::function<std::vector<float>()> lie,
                     std::size_t& rounds) {
  for (;;) {
    auto values = lie();
    averaging::StepOptions step;
    step.weight = kHuge;
    auto const deadline = swarm.world.now() + 10s;
    auto const done = co_await averager.step(values, std::move(step), deadline);
    if (done) ++rounds;
    if (!done && done.error().code == Errc::cancelled) co_return;
    auto const slept = co_await swarm.world.sleep_for(20ms);
    if (!slept) co_return;
  }
}

averaging::AveragerOptions like_others(OptimSwarm& swarm, char const* kind, char const* name) {
  averaging::AveragerOptions o;
  o.prefix = std::string("toy_") + kind;
  o.class_name = name;
  o.min_matchmaking_time = swarm.options.matchmaking_time;
  o.compression = swarm.options.compression;
  // A leader that waits is hivemind's; this one closes as soon as the honest are there.
  std::vector<PeerId> honest;
  for (std::size_t i = 0; i < 4; ++i) honest.push_back(swarm.peers[i]->host->self());
  o.expected = [honest] { return averaging::Expected{honest}; };
  return o;
}

}  // namespace

TEST_CASE("liars: a lying reducer costs the averaging of its own part, and is named") {
  // Without a liar, for comparison.
  double honest_loss = 0;
  {
    OptimSwarm swarm(50);
    auto const peers = start_all(swarm, 4, wide(20, kWidth));
    REQUIRE(swarm.run_until_epoch(peers, 40, 120s));
    honest_loss = peers[0]->trainer->test_loss();
  }
  for (int const kind : variants(1, {0, 1, 2})) {
    CAPTURE(kind);
    OptimSwarm swarm(50);
    auto const peers = start_all(swarm, 4, wide(20, kWidth));
    REQUIRE(swarm.run_until_epoch(peers, 3, 60s));
    auto& liar = swarm.add_bare();
    auto o = like_others(swarm, "grad_averager", "GradientAverager");
    o.schema = peers[0]->trainer->facts().parameters;
    averaging::Averager gradients(*liar.host, *liar.dht, swarm.compute, o);
    liar.scope->spawn("record",
                      lie_on(swarm, liar, record_key(9), Lie{"reducer", {}, {}, {}}, *peers[0]));
    auto const lie = [&peers, kind]() -> std::vector<float> {
      auto const& w = peers[0]->trainer->w;
      std::vector<float> values(w.size(), kind == 0 ? 1e4F : 0.0F);
      if (kind == 2)
        for (std::size_t i = 0; i < w.size(); ++i)
          values[i] = -2 * (w[i] - (i == 0 ? 1.0F : 2.0F));  // uphill
      return values;
    };
    std::size_t rounds = 0;
    liar.scope->spawn("lies", reduce_lies(swarm, gradients, lie, rounds));
    auto const from = peers[0]->optimizer->status().epoch;
    CHECK(swarm.run_until_epoch(peers, 40, 240s));
    CHECK(rounds > 0);
    std::size_t with_liar = 0;
    for (auto const& r : peers[0]->reports)
      if (r.gradients && r.gradients->group.size() == 5) ++with_liar;
    MESSAGE("the liar was in ", with_liar, " of ", 40 - from, " groups");
    CHECK(with_liar >= 20);
    std::size_t named = 0;
    for (auto* p : peers) {
      CHECK(p->trainer->test_loss() < 1.05 * honest_loss);
      named += p->optimizer->status().ignored_peers.size();
      CHECK(slow_epochs(*p, from, 2s) <= 1);
    }
    CHECK(named >= 1);
    check_clean(peers);
    swarm.world.run(liar.scope->close());
    swarm.world.run(gradients.close());
  }
}

TEST_CASE("liars: a wrong average of state is not taken, from a reducer or from a sender") {
  for (bool const reducer : variants(1, {true, false})) {
    CAPTURE(reducer);
    OptimSwarm swarm(51);
    auto const peers = start_all(swarm, 4, wide(20, kWidth));
    REQUIRE(swarm.run_until_epoch(peers, 20, 60s));
    auto& liar = swarm.add_bare();
    auto g = like_others(swarm, "grad_averager", "GradientAverager");
    g.schema = peers[0]->trainer->facts().parameters;
    auto s = like_others(swarm, "state_averager", "TrainingStateAverager");
    s.schema = peers[0]->trainer->facts().state_averaging;
    averaging::Averager gradients(*liar.host, *liar.dht, swarm.compute, g);
    averaging::Averager states(*liar.host, *liar.dht, swarm.compute, s);
    liar.scope->spawn("record",
                      lie_on(swarm, liar, record_key(9), Lie{"state", {}, {}, {}}, *peers[0]));
    std::size_t in_gradients = 0;
    std::size_t in_states = 0;
    // Well behaved in gradient rounds, with next to no weight.
    auto join =
        [](OptimSwarm& w, averaging::Averager& a, std::size_t n, std::size_t& r) -> Co<void> {
      for (;;) {
        std::vector<float> values(n, 1e-3F);
        averaging::StepOptions step;
        step.weight = 1;
        auto const deadline = w.world.now() + 10s;
        auto const done = co_await a.step(values, std::move(step), deadline);
        if (done) ++r;
        if (!done && done.error().code == Errc::cancelled) co_return;
      }
    };
    auto lie_state = [](OptimSwarm& w,
                        averaging::Averager& a,
                        ToyTrainer const& honest,
                        double weight,
                        std::size_t& r) -> Co<void> {
      for (;;) {
        std::vector<float> values = honest.w;
        for (auto& v : values) v = -9 * v;
        values.resize(2 * values.size());
        averaging::StepOptions step;
        step.weight = weight;
        auto const deadline = w.world.now() + 10s;
        auto const done = co_await a.step(values, std::move(step), deadline);
        if (done) ++r;
        if (!done && done.error().code == Errc::cancelled) co_return;
      }
    };
    auto const n = peers[0]->trainer->w.size();
    liar.scope->spawn("gradients", join(swarm, gradients, n, in_gradients));
    liar.scope->spawn(
        "states", lie_state(swarm, states, *peers[0]->trainer, reducer ? kHuge : 1.0, in_states));
    double const before = peers[0]->trainer->test_loss();
    auto const from = peers[0]->optimizer->status().epoch;
    double worst = 0;
    for (int i = 0; i < 200; ++i) {
      swarm.run_for(100ms);
      for (auto* p : peers) worst = std::max(worst, p->trainer->test_loss());
    }
    CHECK(in_states > 0);
    MESSAGE("loss ",
            before,
            " before, at worst ",
            worst,
            " in ",
            peers[0]->optimizer->status().epoch - from,
            " epochs, ",
            in_states,
            " lies");
    CHECK(worst < 1.1 * before);
    CHECK(peers[0]->optimizer->status().epoch > from + 10);
    check_clean(peers);
    swarm.world.run(liar.scope->close());
    swarm.world.run(gradients.close());
    swarm.world.run(states.close());
  }
}
