// SPDX-License-Identifier: MIT
#include "core/base/compute.hpp"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <pthread.h>

#include "tests/support/run.hpp"

using namespace waggle;

TEST_SUITE("ThreadPool") {
  TEST_CASE("does everything that was posted before it goes") {
    std::atomic<int> done = 0;
    {
      ThreadPool pool("test", 3);
      for (int i = 0; i < 1000; ++i) pool.post([&] { ++done; });
    }
    CHECK(done == 1000);
  }

  TEST_CASE("names its threads, as far as the kernel lets it") {
    std::string seen;
    {
      ThreadPool pool("a name of more than fifteen letters", 1);
      pool.post([&] {
        char name[32] = {};
        pthread_getname_np(pthread_self(), name, sizeof name);
        seen = name;
      });
    }
    CHECK(seen == "a name of more ");
  }

  TEST_CASE("work may post more work") {
    std::atomic<int> done = 0;
    {
      ThreadPool pool("test", 2);
      pool.post([&] {
        for (int i = 0; i < 10; ++i) pool.post([&] { ++done; });
      });
    }
    CHECK(done == 10);
  }
}

TEST_SUITE("InlineExecutor") {
  TEST_CASE("runs at once, here") {
    InlineExecutor executor;
    auto where = std::thread::id{};
    executor.post([&] { where = std::this_thread::get_id(); });
    CHECK(where == std::this_thread::get_id());
  }
}

TEST_SUITE("on") {
  TEST_CASE("runs on the pool and resumes here with the value") {
    SystemRuntime runtime;
    ThreadPool pool("test", 2);
    auto body = [](Runtime& r, ThreadPool& p) -> Co<void> {
      auto const home = std::this_thread::get_id();
      auto where = [] { return std::this_thread::get_id(); };
      auto const there = co_await on(p, r, std::move(where));
      CHECK(there != home);
      CHECK(std::this_thread::get_id() == home);
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

  TEST_CASE("values and functions that only move are moved") {
    SystemRuntime runtime;
    ThreadPool pool("test", 1);
    auto body = [](Runtime& r, ThreadPool& p) -> Co<void> {
      auto box = std::make_unique<int>(7);
      auto work = [box = std::move(box)]() mutable { return std::move(box); };
      auto const back = co_await on(p, r, std::move(work));
      REQUIRE(back != nullptr);
      CHECK(*back == 7);
    };
    test::run(runtime, body(runtime, pool));
  }

  TEST_CASE("works inline too, as the simulator runs it") {
    SystemRuntime runtime;
    InlineExecutor executor;
    auto body = [](Runtime& r, InlineExecutor& e) -> Co<void> {
      for (int i = 0; i < 100; ++i) {
        auto work = [i] { return i * i; };
        int const square = co_await on(e, r, std::move(work));
        CHECK(square == i * i);
      }
    };
    test::run(runtime, body(runtime, executor));
  }
}
