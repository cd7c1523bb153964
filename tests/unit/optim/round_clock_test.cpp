// SPDX-License-Identifier: MIT
#include "core/optim/round_clock.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::optim;
using namespace std::chrono_literals;

TEST_CASE("RoundClock: the bound until something was measured, then a multiple of the median") {
  RoundClock clock(60s);
  CHECK(clock.all_reduce() == 60s);
  CHECK(clock.lead(15s) == 15s);
  CHECK(clock.sender(15s) == 15s);
  for (int i = 0; i < 20; ++i) clock.succeeded(100ms, 200ms);
  CHECK(clock.sender(15s) == 2s);
  CHECK(clock.all_reduce() == 6s);
  CHECK(clock.lead(15s) == 800ms);
  clock.succeeded(14s, 50s);  // one bad round moves no median
  CHECK(clock.all_reduce() == 6s);
  CHECK(clock.lead(15s) == 800ms);
}

TEST_CASE("RoundClock: failures in a row double the patience up to the bound") {
  RoundClock clock(60s);
  for (int i = 0; i < 5; ++i) clock.succeeded(1s, 2s);
  CHECK(clock.all_reduce() == 21s);
  clock.failed();
  CHECK(clock.all_reduce() == 42s);
  CHECK(clock.lead(15s) == 15s);
  for (int i = 0; i < 20; ++i) clock.failed();
  CHECK(clock.all_reduce() == 60s);
  CHECK(clock.sender(15s) == 15s);
  clock.succeeded(1s, 2s);
  CHECK(clock.all_reduce() == 21s);
}

TEST_CASE("RoundClock: how long searches take is their median, and nothing before the first") {
  RoundClock clock(60s);
  CHECK(clock.search() == Duration{});
  for (auto const took : {1s, 2s, 9s}) clock.succeeded(took, 1s);
  CHECK(clock.search() == 2s);
}
