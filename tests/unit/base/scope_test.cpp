// SPDX-License-Identifier: MIT
#include "core/base/scope.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/support/run.hpp"
#include "tests/unit/base/death.hpp"

using namespace waggle;

TEST_SUITE("Scope") {
  TEST_CASE("close cancels a sleeper and waits for it") {
    SystemRuntime runtime;
    bool left = false;
    auto sleeper = [](Runtime& r, bool& done) -> Co<void> {
      auto const slept = co_await r.sleep_for(std::chrono::hours(1));
      CHECK(!slept);
      CHECK(slept.error().code == Errc::cancelled);
      done = true;
    };
    auto body = [](Runtime& r, bool& done, auto& f) -> Co<void> {
      Scope scope(r);
      scope.spawn("sleeper", f(r, done));
      (void)co_await r.sleep_for(std::chrono::milliseconds(5));
      co_await scope.close();
      CHECK(done);
      CHECK(scope.size() == 0);
    };
    test::run(runtime, body(runtime, left, sleeper));
    CHECK(left);
  }

  TEST_CASE("a coroutine spawned after cancel starts cancelled") {
    SystemRuntime runtime;
    auto child = [](Runtime& r) -> Co<void> {
      auto const slept = co_await r.sleep_for(std::chrono::hours(1));
      CHECK(!slept);
    };
    auto body = [](Runtime& r, auto& f) -> Co<void> {
      Scope scope(r);
      scope.cancel();
      scope.spawn("late", f(r));
      co_await scope.close();
    };
    test::run(runtime, body(runtime, child));
  }

  TEST_CASE("clean-up may await after cancellation") {
    SystemRuntime runtime;
    int closed = 0;
    auto inner = [](Runtime& r) -> Co<void> { (void)co_await r.sleep_for(std::chrono::hours(1)); };
    auto outer = [](Runtime& r, auto& f, int& n) -> Co<void> {
      Scope scope(r);
      scope.spawn("inner", f(r));
      (void)co_await r.sleep_for(std::chrono::hours(1));
      co_await scope.close();
      ++n;
    };
    auto body = [](Runtime& r, auto& f, auto& g, int& n) -> Co<void> {
      Scope scope(r);
      scope.spawn("outer", g(r, f, n));
      (void)co_await r.sleep_for(std::chrono::milliseconds(2));
      co_await scope.close();
    };
    test::run(runtime, body(runtime, inner, outer, closed));
    CHECK(closed == 1);
  }

  TEST_CASE("join waits for those that leave by themselves, until its deadline") {
    SystemRuntime runtime;
    auto nap = [](Runtime& r, int ms) -> Co<void> {
      (void)co_await r.sleep_for(std::chrono::milliseconds(ms));
    };
    auto body = [](Runtime& r, auto& f) -> Co<void> {
      Scope scope(r);
      scope.spawn("short", f(r, 2));
      scope.spawn("shorter", f(r, 1));
      CHECK(scope.size() == 2);
      auto const joined = co_await scope.join();
      CHECK(joined);
      CHECK(scope.size() == 0);
      CHECK(!scope.cancelled());
      scope.spawn("long", f(r, 60'000));
      auto const late = co_await scope.join(r.now() + std::chrono::milliseconds(3));
      REQUIRE(!late);
      CHECK(late.error().code == Errc::timeout);
      CHECK(scope.size() == 1);
      co_await scope.close();
    };
    test::run(runtime, body(runtime, nap));
  }

  TEST_CASE("closing an empty or a closed scope returns at once") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Scope scope(r);
      co_await scope.close();
      co_await scope.close();
      CHECK(scope.cancelled());
      auto const joined = co_await scope.join();
      CHECK(joined);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a leaked exception and a scope that dies before its coroutines abort by name") {
    auto const leaked = test::death_of([] {
      SystemRuntime runtime;
      auto thrower = [](Runtime& r) -> Co<void> {
        (void)co_await r.sleep_for(std::chrono::milliseconds(1));
        throw std::runtime_error("spilt honey");
      };
      test::run(runtime, thrower(runtime));
    });
    CHECK(leaked.find("coroutine test leaked") != std::string::npos);
    CHECK(leaked.find("spilt honey") != std::string::npos);
    auto const orphaned = test::death_of([] {
      SystemRuntime runtime;
      auto sleeper = [](Runtime& r) -> Co<void> {
        (void)co_await r.sleep_for(std::chrono::hours(1));
      };
      Scope scope(runtime);
      scope.spawn("forager", sleeper(runtime));
    });
    CHECK(orphaned.find("forager") != std::string::npos);
  }

  TEST_CASE("a loop that goes on after cancelled is made to abort") {
    auto const said = test::death_of([] {
      SystemRuntime runtime;
      auto stubborn = [](Runtime& r) -> Co<void> {
        for (;;) (void)co_await r.sleep_for(std::chrono::milliseconds(1));
      };
      auto body = [](Runtime& r, auto& f) -> Co<void> {
        Scope scope(r);
        scope.spawn("stubborn", f(r));
        co_await scope.close();
      };
      test::run(runtime, body(runtime, stubborn));
    });
    CHECK(said.find("goes on after Errc::cancelled") != std::string::npos);
  }
}
