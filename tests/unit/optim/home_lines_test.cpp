// SPDX-License-Identifier: MIT
// Long lines: what an epoch costs beyond its samples, in round trips.
#include <doctest/doctest.h>

#include "core/optim/collaborative_optimizer.hpp"

#include "tests/unit/optim/checks.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

TEST_CASE("home lines: an epoch costs its samples and a few round trips") {
  static constexpr Duration kRoundTrip = 300ms;
  auto links = sim::links::lan();
  links.latency = [](std::uint32_t, std::uint32_t) -> Duration { return kRoundTrip / 2; };
  for (std::uint64_t const target : variants(1, {128u, 1600u})) {
    CAPTURE(target);
    OptimSwarm swarm(21, links);
    swarm.options.target_batch_size = target;
    auto const peers = start_all(swarm, 4, logistic());
    CHECK(swarm.run_until_epoch(peers, 25, 400s));
    double const computing = static_cast<double>(target) / (4 * 200);
    for (auto* p : peers) {
      Duration gradients{}, state{}, finding{}, finding_state{};
      int n = 0;
      for (auto const& r : p->reports)
        if (r.epoch > 6 && r.gradients && r.state) {
          ++n;
          gradients += r.gradients->all_reduce;
          finding += r.gradients->matchmaking;
          state += r.state->all_reduce;
          finding_state += r.state->matchmaking;
        }
      REQUIRE(n > 0);
      auto const trips = (to_seconds(median_epoch(*p, 6)) - computing) / to_seconds(kRoundTrip);
      MESSAGE(target,
              " samples: ",
              trips,
              " round trips an epoch beyond its samples; groups found in ",
              to_seconds(finding) / n,
              " and ",
              to_seconds(finding_state) / n,
              " s, averages made in ",
              to_seconds(gradients) / n,
              " and ",
              to_seconds(state) / n,
              " s");
      // Two averages of two trips each. Where computing takes next to nothing, the search for the
      // next group sets the pace: declared in the DHT, read there, asked, begun.
      CHECK(trips <= (target > 1000 ? 5 : 10));
      CHECK(p->reports.back().gradients->group.size() == 4);
    }
    CHECK(spread(peers) < 1e-3);
    check_clean(peers);
  }
}
