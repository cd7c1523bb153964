// SPDX-License-Identifier: MIT
#include "core/blob/fetch_plan.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::blob;
using namespace std::chrono_literals;

namespace {

TimePoint const kStart{100s};

std::vector<bool> all(std::size_t n) {
  return std::vector<bool>(n, true);
}

}  // namespace

TEST_SUITE("FetchPlan") {
  TEST_CASE("asks for each missing chunk once and never for a held one") {
    std::vector<bool> held(20);
    held[3] = held[7] = true;
    FetchPlan plan(held, 1);
    plan.set_holding(sim::peer(1), all(20));
    std::set<std::size_t> asked;
    while (auto const chunk = plan.next(sim::peer(1), kStart)) {
      CHECK(asked.insert(*chunk).second);
      CHECK(!held[*chunk]);
    }
    CHECK(asked.size() == 18);
    CHECK(!plan.complete());
    for (auto const chunk : asked) plan.arrived(chunk);
    CHECK(plan.complete());
    CHECK(!plan.next(sim::peer(1), kStart + 1h));
  }

  TEST_CASE("asks a peer only for what it holds, the rarest first") {
    FetchPlan plan(std::vector<bool>(10), 7);
    plan.set_holding(sim::peer(1), all(10));
    std::vector<bool> common(10, true);
    common[4] = common[8] = false;
    plan.set_holding(sim::peer(2), common);
    plan.set_holding(sim::peer(3), common);
    std::set<std::size_t> const first{*plan.next(sim::peer(1), kStart),
                                      *plan.next(sim::peer(1), kStart)};
    CHECK(first == std::set<std::size_t>{4, 8});
    while (auto const chunk = plan.next(sim::peer(2), kStart)) CHECK(common[*chunk]);
    CHECK(!plan.next(sim::peer(9), kStart));
  }

  TEST_CASE("different seeds begin at different chunks") {
    std::set<std::size_t> firsts;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      FetchPlan plan(std::vector<bool>(100), seed * 0x9e3779b97f4a7c15ull);
      plan.set_holding(sim::peer(1), all(100));
      plan.set_holding(sim::peer(2), all(100));
      firsts.insert(*plan.next(sim::peer(1), kStart));
    }
    CHECK(firsts.size() > 20);
  }

  TEST_CASE("what failed is asked of others; what was denied is not asked of the same again") {
    FetchPlan plan(std::vector<bool>(1), 1);
    plan.set_holding(sim::peer(1), all(1));
    plan.set_holding(sim::peer(2), all(1));
    CHECK(plan.next(sim::peer(1), kStart) == 0u);
    CHECK(!plan.next(sim::peer(2), kStart));
    plan.failed(sim::peer(1), 0, true);
    CHECK(!plan.next(sim::peer(1), kStart));
    CHECK(plan.next(sim::peer(2), kStart) == 0u);
    plan.drop(sim::peer(2));
    CHECK(!plan.next(sim::peer(2), kStart));
    plan.set_holding(sim::peer(1), all(1));
    CHECK(plan.next(sim::peer(1), kStart) == 0u);
  }

  TEST_CASE("at the end one more peer is asked for what is overdue, and no third") {
    FetchPlan plan(std::vector<bool>(2), 1);
    for (int n = 1; n <= 3; ++n) plan.set_holding(sim::peer(static_cast<std::uint64_t>(n)), all(2));
    auto const slow = plan.next(sim::peer(1), kStart);
    auto const other = plan.next(sim::peer(1), kStart + 1s);
    CHECK(!plan.next(sim::peer(2), kStart + 2s));
    CHECK(plan.next(sim::peer(2), kStart + FetchPlan::kEndgameAge) == slow);  // the oldest
    CHECK(!plan.next(sim::peer(1), kStart + 1h));                             // not the same twice
    CHECK(plan.next(sim::peer(3), kStart + 1h) == other);
    CHECK(!plan.next(sim::peer(3), kStart + 1h));
    plan.arrived(*slow);
    plan.arrived(*slow);
    plan.failed(sim::peer(1), *slow, false);
    plan.arrived(*other);
    CHECK(plan.complete());
  }

  TEST_CASE("a torn chunk is missing again") {
    FetchPlan plan(all(3), 1);
    CHECK(plan.complete());
    plan.lost(1);
    plan.lost(1);
    CHECK(!plan.complete());
    CHECK(plan.missing() == std::vector<std::uint32_t>{1});
  }

  TEST_CASE("random events never lose a chunk") {
    std::mt19937 random(3);
    for (int round = 0; round < 50; ++round) {
      std::size_t const n = 1 + random() % 40;
      FetchPlan plan(std::vector<bool>(n), random());
      std::set<std::size_t> got;
      std::map<PeerId, std::vector<std::size_t>> asked;
      TimePoint now = kStart;
      for (int step = 0; step < 4000 && !plan.complete(); ++step) {
        auto const peer = sim::peer(random() % 5);
        now += std::chrono::milliseconds(random() % 500);
        auto& mine = asked[peer];
        switch (random() % 6) {
          case 0: {
            std::vector<bool> holding(n);
            for (std::size_t i = 0; i < n; ++i) holding[i] = random() % 2;
            plan.set_holding(peer, holding);
            break;
          }
          case 1:
            plan.drop(peer);
            mine.clear();
            break;
          case 2:
          case 3:
            if (auto const chunk = plan.next(peer, now)) {
              CHECK(plan.wants(*chunk));
              mine.push_back(*chunk);
            }
            break;
          default:
            if (mine.empty()) break;
            if (random() % 3) {
              plan.arrived(mine.back());
              got.insert(mine.back());
            } else {
              plan.failed(peer, mine.back(), random() % 2);
            }
            mine.pop_back();
        }
        CHECK(plan.missing().size() == n - got.size());
      }
      CHECK(plan.complete());
    }
  }
}
