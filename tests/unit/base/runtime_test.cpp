// SPDX-License-Identifier: MIT
#include "core/base/runtime.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/scope.hpp"

#include "tests/support/run.hpp"

using namespace waggle;

namespace {

Co<void> note_after(Runtime& runtime, int ms, std::vector<int>& order) {
  auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(ms));
  CHECK(slept);
  order.push_back(ms);
}

}  // namespace

TEST_SUITE("Runtime") {
  TEST_CASE("seconds go both ways") {
    static_assert(seconds(1.5) == std::chrono::milliseconds(1500));
    static_assert(to_seconds(std::chrono::milliseconds(250)) == 0.25);
    CHECK(seconds(-0.5) == -std::chrono::milliseconds(500));
  }

  TEST_CASE("sleepers wake in the order of their deadlines, never early") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      std::vector<int> order;
      auto const before = r.now();
      Scope scope(r);
      for (int const ms : {9, 3, 6}) scope.spawn("sleep", note_after(r, ms, order));
      auto const joined = co_await scope.join();
      CHECK(joined);
      CHECK(order == std::vector<int>{3, 6, 9});
      CHECK(r.now() - before >= std::chrono::milliseconds(9));
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a deadline in the past does not hold up") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const slept = co_await r.sleep_until(r.now() - std::chrono::hours(1));
      CHECK(slept);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("draws below a bound cover it evenly and never reach it") {
    SystemRuntime runtime;
    CHECK(runtime.random_below(1) == 0);
    for (std::uint64_t const bound :
         {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{7}, std::uint64_t{16}}) {
      std::array<int, 16> seen{};
      constexpr int kDraws = 16'000;
      for (int i = 0; i < kDraws; ++i) {
        auto const draw = runtime.random_below(bound);
        REQUIRE(draw < bound);
        ++seen[draw];
      }
      // Ten standard deviations at least: a fair generator fails once in 10^20 runs.
      int const expected = kDraws / static_cast<int>(bound);
      for (std::size_t i = 0; i < bound; ++i) CHECK(std::abs(seen[i] - expected) < expected / 2);
    }
    bool high = false;
    for (int i = 0; i < 200 && !high; ++i)
      high = runtime.random_below(~std::uint64_t{0}) >> 63 == 1;
    CHECK(high);
  }

  TEST_CASE("units lie in [0, 1) on both sides of the middle") {
    SystemRuntime runtime;
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
      auto const unit = runtime.random_unit();
      REQUIRE(unit >= 0);
      REQUIRE(unit < 1);
      sum += unit;
    }
    CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.1));
  }
}
