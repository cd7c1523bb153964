// SPDX-License-Identifier: MIT
#include "core/dht/routing_table.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

Contact contact(int n) {
  return {Id::of_text(cat("node ", n)), *PeerId::from_bytes(as_bytes(cat("peer ", n)))};
}

}  // namespace

TEST_CASE("the buckets cover every id once and each holds only its own") {
  RoutingTable table(Id::of_text("own"), 4, 3);
  for (int i = 0; i < 500; ++i) (void)table.seen(contact(i), TimePoint{});
  auto const& buckets = table.buckets();
  CHECK(buckets.front().lower == Id{});
  double covered = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (b > 0) CHECK(buckets[b - 1].lower < buckets[b].lower);
    double part = 1;
    for (std::size_t d = 0; d < buckets[b].depth; ++d) part /= 2;
    covered += part;
    CHECK(buckets[b].nodes.size() <= 4);
    for (auto const& node : buckets[b].nodes) {
      CHECK(!(node.contact.id < buckets[b].lower));
      if (b + 1 < buckets.size()) CHECK(node.contact.id < buckets[b + 1].lower);
    }
  }
  CHECK(covered == 1.0);
}

TEST_CASE("the nearest are those of a full sort") {
  RoutingTable table(Id::of_text("own"), 8, 5);
  for (int i = 0; i < 300; ++i) (void)table.seen(contact(i), TimePoint{});
  std::vector<Contact> all;
  for (auto const& bucket : table.buckets())
    for (auto const& node : bucket.nodes) all.push_back(node.contact);
  CHECK(all.size() == table.size());
  for (int q = 0; q < 20; ++q) {
    Id const target = Id::of_text(cat("query ", q));
    std::sort(all.begin(), all.end(), [&](auto const& a, auto const& b) {
      return distance(target, a.id) < distance(target, b.id);
    });
    auto const near = table.nearest(target, 20);
    CHECK(std::equal(near.begin(), near.end(), all.begin()));
    auto const without = table.nearest(target, 5, &all[0].id);
    CHECK(without.front() == all[1]);
  }
  CHECK(table.nearest(Id{}, 10'000).size() == table.size());
}

TEST_CASE("our own id never enters") {
  RoutingTable table(Id::of_text("own"), 2, 5);
  Contact self = contact(1);
  self.id = table.own();
  (void)table.seen(self, TimePoint{});
  CHECK(table.size() == 0);
}

TEST_CASE("a peer stands there once, under the id it named last") {
  RoutingTable table(Id::of_text("own"), 20, 5);
  Contact const before = contact(1);
  Contact const after{Id::of_text("restarted"), before.peer};
  (void)table.seen(before, TimePoint{});
  (void)table.seen(after, TimePoint{});
  CHECK(table.size() == 1);
  CHECK(table.find(before.peer)->id == after.id);
  CHECK_FALSE(table.contains(before.id));
}

TEST_CASE("a contact that failed is hidden until it is heard of again") {
  RoutingTable table(Id::of_text("own"), 20, 5);
  (void)table.seen(contact(1), TimePoint{});
  table.failed(contact(1).id);
  CHECK(table.nearest(Id{}, 5).empty());
  CHECK(table.contains(contact(1).id));
  (void)table.seen(contact(1), TimePoint{});
  CHECK(table.nearest(Id{}, 5).size() == 1);
}

TEST_CASE("a full bucket asks for a ping of each old contact once, and replacements move up") {
  RoutingTable table(Id{}, 2, 1);  // buckets that do not hold our id never split
  auto const far = [](int n) {
    Contact c = contact(n);
    c.id = Id{};
    c.id.bytes[0] = std::byte{0x80};
    c.id.bytes[19] = static_cast<std::byte>(n);
    return c;
  };
  CHECK_FALSE(table.seen(far(1), TimePoint{}));
  CHECK_FALSE(table.seen(far(2), TimePoint{}));
  auto const first = table.seen(far(3), TimePoint{});
  REQUIRE(first);
  CHECK(*first == far(1));
  CHECK(*table.seen(far(4), TimePoint{}) == far(2));
  CHECK_FALSE(table.seen(far(5), TimePoint{}));
  // The answer of the oldest makes it the newest.
  CHECK_FALSE(table.seen(far(1), TimePoint{}));
  table.remove(far(2).id);
  auto const near = table.nearest(Id{}, 9);
  REQUIRE(near.size() == 2);
  CHECK(table.contains(far(5).id));  // the most recent replacement
  // Replacements are limited.
  for (int i = 6; i < 100; ++i) (void)table.seen(far(i), TimePoint{});
  for (auto const& bucket : table.buckets()) CHECK(bucket.replacements.size() <= 4);
}

TEST_CASE("ids that differ in the last bit only do not split for ever") {
  RoutingTable table(Id{}, 1, 1000);
  for (int i = 1; i < 4; ++i) {
    Contact c = contact(i);
    c.id = Id{};
    c.id.bytes[19] = static_cast<std::byte>(i);
    (void)table.seen(c, TimePoint{});
  }
  CHECK(table.size() == 3);
  CHECK(table.buckets().size() <= 161);
}

TEST_CASE("the stalest bucket is the one not updated for the longest time, and its range is hit") {
  RoutingTable table(Id{}, 1, 1);
  auto const at = [](int seconds_later) {
    return TimePoint{} + std::chrono::seconds(seconds_later);
  };
  Contact low = contact(1);
  low.id = Id{};
  low.id.bytes[0] = std::byte{0x01};
  Contact high = contact(2);
  high.id = Id{};
  high.id.bytes[0] = std::byte{0xf0};
  (void)table.seen(low, at(10));
  (void)table.seen(high, at(20));
  auto const range = table.stalest();
  Id const random = Id::of_text("anything");
  Id const inside = id_in_range(range.lower, range.depth, random);
  for (std::size_t i = 0; i < range.depth; ++i) CHECK(inside.bit(i) == range.lower.bit(i));
  for (std::size_t i = range.depth; i < 160; ++i) CHECK(inside.bit(i) == random.bit(i));
  table.touch(inside, at(99));
  CHECK(table.stalest().lower != range.lower);
}
