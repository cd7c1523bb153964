// SPDX-License-Identifier: MIT
#include "core/base/scope.hpp"

#include <doctest/doctest.h>

#include "core/base/channel.hpp"
#include "core/base/compute.hpp"
#include "tests/support/run.hpp"

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
}

TEST_SUITE("Channel") {
  TEST_CASE("delivers in order and holds the sender back when full") {
    SystemRuntime runtime;
    auto send = [](Channel<int>& c) -> Co<void> {
      for (int i = 0; i < 100; ++i) {
        auto const sent = co_await c.send(i);
        CHECK(sent);
        CHECK(c.size() <= 2);
      }
      c.close();
    };
    auto body = [](Runtime& r, auto& f) -> Co<void> {
      Channel<int> channel(r, 2);
      Scope scope(r);
      scope.spawn("send", f(channel));
      for (int i = 0; i < 100; ++i) {
        auto got = co_await channel.receive();
        REQUIRE(got);
        CHECK(*got == i);
      }
      auto const end = co_await channel.receive();
      CHECK(!end);
      co_await scope.close();
    };
    test::run(runtime, body(runtime, send));
  }
}

TEST_SUITE("on") {
  TEST_CASE("runs on the pool and resumes here with the value") {
    SystemRuntime runtime;
    ThreadPool pool("test", 2);
    auto body = [](Runtime& r, ThreadPool& p) -> Co<void> {
      std::vector<int> values(1000, 1);
      auto work = [&values] { return static_cast<int>(values.size()); };
      int const n = co_await on(p, r, std::move(work));
      CHECK(n == 1000);
      auto nothing = [&values] { values.clear(); };
      (void)co_await on(p, r, std::move(nothing));
      CHECK(values.empty());
    };
    test::run(runtime, body(runtime, pool));
  }
}
