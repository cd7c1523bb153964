// SPDX-License-Identifier: MIT
#include "tests/sim/world.hpp"

#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/base/signal.hpp"

using namespace waggle;
using namespace std::chrono_literals;

namespace {

Co<void> nap(Runtime& runtime, Duration d, std::vector<double>& woken) {
  TimePoint const start = runtime.now();
  (void)co_await runtime.sleep_for(d);
  woken.push_back(to_seconds(runtime.now() - start));
}

Co<void> race(Runtime& runtime, std::vector<double>& woken) {
  Scope scope(runtime);
  scope.spawn("long", nap(runtime, 5s, woken));
  scope.spawn("short", nap(runtime, 2s, woken));
  (void)co_await runtime.sleep_for(3s);
  co_await scope.close();
}

Co<void> wait_with_deadline(Runtime& runtime, Errc& outcome) {
  Signal never(runtime);
  auto waited = co_await never.wait(runtime.now() + 10s);
  outcome = waited.error().code;
}

std::uint64_t busy_world(std::uint64_t seed) {
  sim::World world(seed);
  std::vector<double> woken;
  for (int i = 0; i < 100; ++i)
    (void)world.call_at(world.now() + seconds(world.random_unit()),
                        [&world] { world.trace(world.random_u64()); });
  world.run_for(1min);
  return world.trace_hash();
}

}  // namespace

TEST_CASE("sleeps take virtual time, and a cancelled one ends when it is cancelled") {
  sim::World world(1);
  std::vector<double> woken;
  TimePoint const start = world.now();
  world.run(race(world, woken));
  CHECK(woken == std::vector<double>{2.0, 3.0});
  CHECK(world.now() - start == 3s);
}

TEST_CASE("a deadline passes in virtual time") {
  sim::World world(1);
  auto outcome = Errc::io;
  world.run(wait_with_deadline(world, outcome));
  CHECK(outcome == Errc::timeout);
}

TEST_CASE("events of one time happen in the order of their making, cancelled ones not at all") {
  sim::World world(1);
  std::vector<int> order;
  TimePoint const at = world.now() + 1s;
  (void)world.call_at(at, [&] { order.push_back(1); });
  auto const second = world.call_at(at, [&] { order.push_back(2); });
  (void)world.call_at(at, [&] { order.push_back(3); });
  (void)world.call_at(at - 1ms, [&] { order.push_back(0); });
  world.cancel(second);
  world.cancel(second);
  world.run_until(at);
  CHECK(order == std::vector<int>{0, 1, 3});
}

TEST_CASE("a cancelled timer's place can be taken without confusing the two") {
  sim::World world(1);
  int fired = 0;
  for (int i = 0; i < 10'000; ++i)
    world.cancel(world.call_at(world.now() + 1s, [&] { fired = -1'000'000; }));
  auto const last = world.call_at(world.now() + 1s, [&] { ++fired; });
  (void)last;
  world.run_for(2s);
  CHECK(fired == 1);
}

TEST_CASE("the same seed gives the same trace, another seed another one") {
  CHECK(busy_world(7) == busy_world(7));
  CHECK(busy_world(7) != busy_world(8));
}

TEST_CASE("the clock stands at the end of a run, whether or not anything happened") {
  sim::World world(1);
  TimePoint const start = world.now();
  double const unix_start = world.unix_time();
  world.run_for(90s);
  CHECK(world.now() - start == 90s);
  CHECK(world.unix_time() - unix_start == doctest::Approx(90));
}
