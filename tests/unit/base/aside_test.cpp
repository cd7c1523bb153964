// SPDX-License-Identifier: MIT
#include "core/base/aside.hpp"

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};

template <class F>
bool soon(F test) {
  for (int i = 0; i < 2000; ++i) {
    if (test()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_SUITE("Aside") {
  TEST_CASE("answers a poll later, and asks again only when the answer is old") {
    std::atomic<int> asked = 0;
    Aside<int> aside(
        "test", [&asked] { return ++asked; }, seconds(10), seconds(1));
    CHECK(!aside.poll(kStart));
    CHECK(soon([&] { return aside.poll(kStart) == 1; }));
    CHECK(aside.poll(kStart + seconds(9)) == 1);
    CHECK(asked == 1);
    CHECK(aside.poll(kStart + seconds(10)) == 1);  // the last answer, while the next is fetched
    CHECK(soon([&] { return aside.poll(kStart + seconds(10)) == 2; }));
  }

  TEST_CASE("those of one period ask in one poll, whenever they began, and another period holds") {
    std::atomic<int> early = 0;
    std::atomic<int> late = 0;
    Aside<int> first(
        "first", [&early] { return ++early; }, seconds(10), seconds(1));
    Aside<int> second(
        "second", [&late] { return ++late; }, seconds(4), seconds(1));
    auto const both = [&](TimePoint now, int of_first, int of_second) {
      return soon([&] { return first.poll(now) == of_first && second.poll(now) == of_second; });
    };
    CHECK(soon([&] { return first.poll(kStart + seconds(1)) == 1; }));
    second.every(seconds(10));
    CHECK(both(kStart + seconds(5), 1, 1));
    CHECK(both(kStart + seconds(9), 1, 1));
    CHECK(both(kStart + seconds(10), 2, 2));
    CHECK(both(kStart + seconds(19), 2, 2));
    second.every(seconds(4));
    CHECK(both(kStart + seconds(20), 3, 3));
    CHECK(both(kStart + seconds(24), 3, 4));
  }

  TEST_CASE("a question that hangs counts as unavailable after the limit, and never blocks") {
    struct Gate {
      std::binary_semaphore open{0};
      std::atomic<int> asked = 0;
    };

    auto gate = std::make_shared<Gate>();
    Aside<int> aside(
        "test",
        [gate] {
          if (++gate->asked == 2) gate->open.acquire();
          return gate->asked.load();
        },
        seconds(1),
        seconds(5));
    CHECK(!aside.poll(kStart));
    CHECK(soon([&] { return aside.poll(kStart) == 1; }));
    CHECK(aside.poll(kStart + seconds(1)) == 1);
    CHECK(aside.poll(kStart + seconds(6)) == 1);  // not over the limit yet
    CHECK(!aside.poll(kStart + seconds(7)));
    CHECK(!aside.poll(kStart + seconds(70)));
    CHECK(soon([&] { return gate->asked == 2; }));
    CHECK(!aside.poll(kStart + seconds(71)));
    CHECK(gate->asked == 2);  // one hangs, no more are begun
    gate->open.release();
    CHECK(soon([&] { return aside.poll(kStart + seconds(71)).has_value(); }));
  }

  TEST_CASE("leaves a hung question behind instead of waiting for it") {
    auto gate = std::make_shared<std::binary_semaphore>(0);
    auto begun = std::make_shared<std::atomic<bool>>(false);
    auto done = std::make_shared<std::atomic<bool>>(false);
    auto const begin = std::chrono::steady_clock::now();
    {
      Aside<int> aside(
          "test",
          [gate, begun, done] {
            *begun = true;
            gate->acquire();
            *done = true;
            return 1;
          },
          seconds(1),
          seconds(1));
      CHECK(!aside.poll(kStart));
      REQUIRE(soon([&] { return begun->load(); }));
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    CHECK(!*done);
    gate->release();
    CHECK(soon([&] { return done->load(); }));
  }

  TEST_CASE("what the question owns ends before whoever leaves goes on") {
    struct PutsBack {
      std::atomic<bool>& done;

      ~PutsBack() { done = true; }
    };

    for (int i = 0; i < 100; ++i) {
      std::atomic<bool> done = false;
      {
        auto owned = std::make_shared<PutsBack>(done);
        Aside<int> aside(
            "test", [owned] { return 1; }, seconds(1), seconds(1));
        owned.reset();
        (void)aside.poll(kStart);
      }
      REQUIRE(done.load());
    }
  }

  TEST_CASE("who has something to put back that takes its time is given patience") {
    struct PutsBack {
      std::shared_ptr<std::atomic<bool>> done;

      ~PutsBack() {
        std::this_thread::sleep_for(std::chrono::milliseconds(900));
        *done = true;
      }
    };

    auto const done = std::make_shared<std::atomic<bool>>(false);
    {
      auto owned = std::make_shared<PutsBack>(done);
      Aside<int> aside(
          "test", [owned] { return 1; }, seconds(1), seconds(1));
      owned.reset();
      aside.patience(seconds(5));
    }
    CHECK(*done);
  }
}
