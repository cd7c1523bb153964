// SPDX-License-Identifier: MIT
#include "core/node/snapshots.hpp"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "core/base/system_runtime.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::shared_ptr<Snapshot const> at(double time) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = time;
  return snapshot;
}

double time_of(std::shared_ptr<Snapshot const> const& snapshot) {
  return snapshot ? snapshot->time : -1;
}

}  // namespace

TEST_SUITE("Snapshots") {
  TEST_CASE("nobody is asked while nobody looks, nor for one that is fresh") {
    SystemRuntime const clock;
    Snapshots all(clock);
    int asked = 0;
    CHECK(all.fresh() == nullptr);
    all.set(at(1));
    all.made_by([&asked] { ++asked; });
    CHECK(time_of(all.fresh()) == 1);
    CHECK(time_of(all.if_fresh()) == 1);
    CHECK(asked == 0);
  }

  TEST_CASE("an old one is made anew by another thread, and waited for") {
    SystemRuntime const clock;
    Snapshots all(clock);
    std::thread maker;
    all.set(at(1));
    all.made_by([&] { maker = std::thread([&all] { all.set(at(2)); }); });
    all.outdate();
    CHECK(time_of(all.fresh()) == 2);
    maker.join();
  }

  TEST_CASE("who does not wait gets a fresh one or none, and soon there is one") {
    SystemRuntime const clock;
    Snapshots all(clock);
    int asked = 0;
    all.set(at(1));
    all.made_by([&asked] { ++asked; });
    all.outdate();
    CHECK(all.if_fresh() == nullptr);
    CHECK(asked == 1);
    CHECK(time_of(all.last()) == 1);
    all.set(at(2));
    CHECK(time_of(all.if_fresh()) == 2);
    CHECK(asked == 1);
  }

  TEST_CASE("where nobody answers, or nobody makes any more, there is the last one") {
    SystemRuntime const clock;
    Snapshots all(clock);
    all.set(at(1));
    all.made_by([] {});
    all.outdate();
    auto const begun = clock.now();
    CHECK(time_of(all.fresh()) == 1);
    CHECK(clock.now() >= begun + Snapshots::kPatience);
  }

  TEST_CASE("who waits is let go when the maker leaves") {
    SystemRuntime const clock;
    Snapshots all(clock);
    std::thread leaver;
    all.set(at(1));
    all.made_by([&] { leaver = std::thread([&all] { all.made_by(nullptr); }); });
    all.outdate();
    auto const begun = clock.now();
    CHECK(time_of(all.fresh()) == 1);
    CHECK(clock.now() < begun + Snapshots::kPatience);
    leaver.join();
  }
}
