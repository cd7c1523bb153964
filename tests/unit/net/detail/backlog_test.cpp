// SPDX-License-Identifier: MIT
#include "core/net/detail/backlog.hpp"

#include <map>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle::net;

TEST_SUITE("backlog") {
  TEST_CASE("above the limit the one without progress for the longest time goes") {
    auto const backlog = std::make_shared<Backlog>(100);
    std::vector<int> evicted;
    auto const note = [&](int i) { return [&evicted, i] { evicted.push_back(i); }; };
    Backlog::Entry first(backlog, note(1));
    Backlog::Entry second(backlog, note(2));
    Backlog::Entry third(backlog, note(3));
    first.grow(40);
    second.grow(40);
    first.shrink(10);  // progress: now the second is the oldest
    third.grow(30);
    CHECK(evicted.empty());
    CHECK(backlog->total() == 100);
    third.grow(1);
    CHECK(evicted == std::vector{2});
    CHECK(backlog->total() == 61);
    second.shrink(40);  // what it held is gone already
    CHECK(backlog->total() == 61);
    third.grow(200);  // more than all: the first goes, then the third itself
    CHECK(evicted == std::vector{2, 1, 3});
    CHECK(backlog->total() == 0);
  }

  TEST_CASE("an entry that ends takes its share along, also while it is evicted") {
    auto const backlog = std::make_shared<Backlog>(10);
    std::optional<Backlog::Entry> entry;
    entry.emplace(backlog, [&] { entry.reset(); });
    entry->grow(8);
    Backlog::Entry other(backlog, [] {});
    other.grow(3);
    CHECK(!entry);
    CHECK(backlog->total() == 3);
    other.shrink(1000);
    CHECK(backlog->total() == 0);
  }

  TEST_CASE("random growth and shrinking never loses count") {
    std::map<int, std::unique_ptr<Backlog::Entry>> entries;
    std::map<int, std::size_t> held;
    auto const backlog = std::make_shared<Backlog>(5000);
    std::uint32_t state = 7;
    auto const next = [&](std::uint32_t below) {
      state = state * 1664525u + 1013904223u;
      return (state >> 8) % below;
    };
    for (int i = 0; i < 20'000; ++i) {
      int const id = static_cast<int>(next(30));
      auto& entry = entries[id];
      if (!entry) {
        held[id] = 0;
        entry = std::make_unique<Backlog::Entry>(backlog, [&held, id] { held[id] = 0; });
      }
      std::size_t const n = next(400);
      switch (next(4)) {
        case 0:
        case 1:
          held[id] += n;
          entry->grow(n);
          break;
        case 2:
          held[id] -= std::min(held[id], n);
          entry->shrink(n);
          break;
        default:
          entry.reset();
          held[id] = 0;
      }
      std::size_t sum = 0;
      for (auto const& [unused, bytes] : held) sum += bytes;
      REQUIRE(backlog->total() == sum);
      REQUIRE(sum <= 5000);
    }
  }
}
