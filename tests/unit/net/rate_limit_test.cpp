// SPDX-License-Identifier: MIT
#include "core/net/rate_limit.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net;
using std::chrono::milliseconds;

namespace {

TimePoint at(double s) {
  return TimePoint{} + std::chrono::hours(1) + seconds(s);
}

}  // namespace

TEST_SUITE("RateLimit") {
  TEST_CASE("without a limit every turn comes at once") {
    RateLimit limit;
    CHECK(limit.piece() > 1u << 30);
    for (int i = 0; i < 10; ++i) CHECK(limit.due(limit.take(1 << 30, at(0)), at(0)) <= at(0));
  }

  TEST_CASE("pieces are an eighth of a second, within bounds") {
    RateLimit limit;
    limit.set(RateLimit::kLeastRate, at(0));
    CHECK(limit.piece() == 1250);
    limit.set(80'000, at(0));
    CHECK(limit.piece() == 10'000);
    limit.set(1'000'000'000, at(0));
    CHECK(limit.piece() == 16u << 10);
  }

  TEST_CASE("many who share it reach the rate, all of them, and never pass it") {
    std::mt19937 chance(7);
    for (std::uint64_t const rate : {10'000u, 500'000u, 20'000'000u}) {
      CAPTURE(rate);
      RateLimit limit;
      limit.set(rate, at(0));

      struct Mover {
        RateLimit::Turn turn = 0;
        std::size_t bytes = 0;
        int turns = 0;
      };

      std::vector<Mover> movers(12);
      for (auto& m : movers) {
        m.bytes = 1 + chance() % limit.piece();
        m.turn = limit.take(m.bytes, at(0));
      }
      double moved = 0;
      constexpr double kTime = 30;
      for (double t = 0; t < kTime; t += 0.002) {
        // As many turns as have come by now, in their order.
        for (;;) {
          auto& m = *std::ranges::min_element(movers, {}, &Mover::turn);
          if (limit.due(m.turn, at(t)) > at(t)) break;
          moved += static_cast<double>(m.bytes);
          ++m.turns;
          m.bytes = 1 + chance() % limit.piece();
          m.turn = limit.take(m.bytes, at(t));
        }
        auto const most = static_cast<double>(rate) * (t + 0.25) + 16384;
        REQUIRE(moved <= most);
      }
      CHECK(moved > 0.95 * static_cast<double>(rate) * kTime);
      auto const [least, most] = std::ranges::minmax(movers, {}, &Mover::turns);
      CHECK(most.turns - least.turns <= 1);
    }
  }

  TEST_CASE("what nobody used is not saved up for longer than a quarter of a second") {
    RateLimit limit;
    limit.set(100'000, at(0));
    double moved = 0;
    while (limit.due(limit.take(1000, at(3600)), at(3600)) <= at(3600)) moved += 1000;
    CHECK(moved >= 25'000);
    CHECK(moved <= 26'000);
  }

  TEST_CASE("a changed rate counts at once, for those who wait too") {
    RateLimit limit;
    limit.set(10'000, at(0));
    (void)limit.take(100'000, at(0));
    auto const turn = limit.take(1000, at(0));
    auto const slow = limit.due(turn, at(0));
    CHECK(slow > at(9));
    CHECK(slow < at(11));
    limit.set(1'000'000, at(1));
    CHECK(limit.due(turn, at(1)) < at(1.2));
    limit.set(10'000, at(1));
    CHECK(limit.due(turn, at(1)) > at(8));
    limit.set(0, at(2));
    CHECK(limit.due(turn, at(2)) <= at(2));
    // And what was unlimited is not owed afterwards.
    (void)limit.take(1 << 30, at(3));
    limit.set(10'000, at(3));
    CHECK(limit.due(limit.take(1000, at(3)), at(3)) <= at(3));
  }
}
