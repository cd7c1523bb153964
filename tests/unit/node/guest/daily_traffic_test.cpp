// SPDX-License-Identifier: MIT
#include "core/node/guest/daily_traffic.hpp"

#include <cstdlib>
#include <ctime>

#include <doctest/doctest.h>

using waggle::node::DailyTraffic;

namespace {

/// A place where midnight is not that of Greenwich.
struct Zone {
  explicit Zone(char const* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }

  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }

  Zone(Zone const&) = delete;
  Zone& operator=(Zone const&) = delete;
};

// 2026-11-30 00:00 where the clock is eight hours ahead.
constexpr double kMidnight = 1'795'968'000;

}  // namespace

TEST_SUITE("DailyTraffic") {
  TEST_CASE("counts what is new, and begins anew at local midnight") {
    Zone const zone("UTC-8");
    DailyTraffic traffic;
    CHECK(!traffic.text());
    traffic.look(1000, kMidnight + 10);
    traffic.look(1500, kMidnight + 20);
    CHECK(traffic.bytes() == 1500);
    CHECK(traffic.text() == "20261130 1500");
    traffic.look(4000, kMidnight + 86'399);
    CHECK(traffic.bytes() == 4000);
    traffic.look(4100, kMidnight + 86'400);
    CHECK(traffic.bytes() == 100);
    CHECK(traffic.text() == "20261201 100");
  }

  TEST_CASE("a restart goes on with the same day, and not with another") {
    Zone const zone("UTC-8");
    DailyTraffic before;
    before.look(5000, kMidnight + 10);
    auto const kept = *before.text();
    DailyTraffic after;
    after.look(70, kMidnight + 30);  // the new process has talked already
    after.restore(kept, kMidnight + 30);
    CHECK(after.bytes() == 5070);
    after.look(100, kMidnight + 40);
    CHECK(after.bytes() == 5100);
    DailyTraffic next_day;
    next_day.restore(kept, kMidnight + 86'400);
    CHECK(next_day.bytes() == 0);
  }

  TEST_CASE("a text that makes no sense counts for nothing") {
    Zone const zone("UTC-8");
    for (auto const* const text : {"",
                                   " ",
                                   "20261130",
                                   "20261130 ",
                                   "20261130 -1",
                                   "20261130 1x",
                                   "x 1",
                                   "99999999999 1",
                                   "20261130 99999999999999999999",
                                   "20261130 9223372036854775807"}) {
      CAPTURE(text);
      DailyTraffic traffic;
      traffic.restore(text, kMidnight);
      CHECK(traffic.bytes() == 0);
    }
  }
}
