// SPDX-License-Identifier: MIT
#include "core/net/kad/table.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::net;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kNow{1h};

}  // namespace

TEST_CASE("the closest of the table are the closest of all it was told, closest first") {
  auto const self = sim::peer(0);
  kad::Table table(self);
  std::vector<PeerId> kept;
  for (std::uint64_t i = 1; i <= 500; ++i)
    if (table.confirm(sim::peer(i), kNow)) kept.push_back(sim::peer(i));
  CHECK(table.size() == kept.size());
  CHECK(kept.size() < 500);
  CHECK(kept.size() > 4 * kad::Table::kBucketSize);
  for (std::uint64_t t = 1000; t < 1020; ++t) {
    auto const target = kad::Id::of(sim::peer(t));
    std::sort(kept.begin(), kept.end(), [&](PeerId const& a, PeerId const& b) {
      return kad::distance(target, kad::Id::of(a)) < kad::distance(target, kad::Id::of(b));
    });
    auto const found = table.closest(target, 20);
    REQUIRE(found.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) CHECK(found[i].peer == kept[i]);
    auto const others = table.closest(target, 20, kept[0]);
    CHECK(others[0].peer == kept[1]);
  }
}

TEST_CASE("a full bucket takes nobody in until somebody leaves it") {
  kad::Table table(sim::peer(0));
  std::vector<PeerId> far;
  for (std::uint64_t i = 1; far.size() < 21; ++i)
    if (kad::common_prefix_bits(table.self(), kad::Id::of(sim::peer(i))) == 0)
      far.push_back(sim::peer(i));
  for (std::size_t i = 0; i < 20; ++i) CHECK(table.confirm(far[i], kNow));
  CHECK(!table.has_room(far[20]));
  CHECK(!table.confirm(far[20], kNow));
  CHECK(table.confirm(far[3], kNow));
  table.remove(far[3]);
  table.remove(far[3]);
  CHECK(table.size() == 19);
  CHECK(table.confirm(far[20], kNow));
  CHECK(!table.contains(far[3]));
}

TEST_CASE("we are never in our own table, and the longest silent are named first") {
  auto const self = sim::peer(0);
  kad::Table table(self);
  CHECK(!table.confirm(self, kNow));
  CHECK(!table.has_room(self));
  table.confirm(sim::peer(1), kNow);
  table.confirm(sim::peer(2), kNow - 1min);
  table.confirm(sim::peer(3), kNow - 2min);
  CHECK(table.silent_since(kNow) == std::vector<PeerId>{sim::peer(3), sim::peer(2)});
  table.confirm(sim::peer(3), kNow);
  CHECK(table.silent_since(kNow) == std::vector<PeerId>{sim::peer(2)});
}
