// SPDX-License-Identifier: MIT
#include "core/base/signal.hpp"

#include <doctest/doctest.h>

#include "core/base/scope.hpp"

#include "tests/support/run.hpp"
#include "tests/unit/base/death.hpp"

using namespace waggle;

namespace {

Co<void> count_wake(Signal& signal, int& woken, int& cancelled) {
  auto const waited = co_await signal.wait();
  if (waited)
    ++woken;
  else if (waited.error().code == Errc::cancelled)
    ++cancelled;
}

Co<void> pause(Runtime& runtime) {
  (void)co_await runtime.sleep_for(std::chrono::milliseconds(2));
}

}  // namespace

TEST_SUITE("Signal") {
  TEST_CASE("notify_one wakes one, notify_all the rest, and none that comes later") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Signal signal(r);
      int woken = 0;
      int cancelled = 0;
      Scope scope(r);
      for (int i = 0; i < 4; ++i) scope.spawn("wait", count_wake(signal, woken, cancelled));
      co_await pause(r);
      signal.notify_one();
      CHECK(woken == 0);  // posted, not run inside the notifier
      co_await pause(r);
      CHECK(woken == 1);
      signal.notify_all();
      co_await pause(r);
      CHECK(woken == 4);
      signal.notify_all();
      scope.spawn("late", count_wake(signal, woken, cancelled));
      co_await pause(r);
      CHECK(woken == 4);
      co_await scope.close();
      CHECK(cancelled == 1);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("notify_one is not spent on a waiter that already left") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Signal signal(r);
      int woken = 0;
      int cancelled = 0;
      Scope leaving(r);
      Scope staying(r);
      leaving.spawn("leaves", count_wake(signal, woken, cancelled));
      co_await pause(r);
      staying.spawn("stays", count_wake(signal, woken, cancelled));
      co_await pause(r);
      leaving.cancel();
      signal.notify_one();
      co_await leaving.close();
      co_await pause(r);
      CHECK(cancelled == 1);
      CHECK(woken == 1);
      co_await staying.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("the deadline ends a wait, one in the past at once") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Signal signal(r);
      auto const before = r.now();
      auto const waited = co_await signal.wait(before + std::chrono::milliseconds(5));
      REQUIRE(!waited);
      CHECK(waited.error().code == Errc::timeout);
      CHECK(r.now() - before >= std::chrono::milliseconds(5));
      auto const past = co_await signal.wait(before);
      CHECK(past.error().code == Errc::timeout);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a notified wait does not time out afterwards") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Signal signal(r);
      for (int i = 0; i < 50; ++i) {
        auto const timer =
            r.call_at(r.now() + std::chrono::microseconds(100), [&signal] { signal.notify_all(); });
        auto const waited = co_await signal.wait(r.now() + std::chrono::seconds(30));
        CHECK(waited);
        r.cancel(timer);
      }
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("destroying one under its waiters aborts") {
    auto const said = test::death_of([] {
      SystemRuntime runtime;
      auto body = [](Runtime& r) -> Co<void> {
        int ignored = 0;
        Scope scope(r);
        {
          Signal signal(r);
          scope.spawn("wait", count_wake(signal, ignored, ignored));
          co_await pause(r);
        }
        co_await scope.close();
      };
      test::run(runtime, body(runtime));
    });
    CHECK(said.find("destroyed under its waiters") != std::string::npos);
  }
}
