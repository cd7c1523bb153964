// SPDX-License-Identifier: MIT
#include "core/dht/lookup.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

Contact contact(int n) {
  return {Id::of_text(cat("node ", n)), *PeerId::from_bytes(as_bytes(cat("peer ", n)))};
}

/// A network in which everybody knows the `k` nodes nearest to anything.
struct Net {
  explicit Net(int n, std::size_t known = 8) : k(known) {
    for (int i = 0; i < n; ++i) all.push_back(contact(i));
  }

  std::vector<Contact> nearest(Id const& target) const {
    auto sorted = all;
    std::sort(sorted.begin(), sorted.end(), [&](auto const& a, auto const& b) {
      return distance(target, a.id) < distance(target, b.id);
    });
    sorted.resize(std::min(k, sorted.size()));
    return sorted;
  }

  void answer(Lookup& lookup, Lookup::Ask const& ask, std::vector<Id> const& targets) const {
    if (dead.contains(ask.peer.id)) return lookup.failed(ask);
    std::vector<std::vector<Contact>> neighbours;
    for (auto const q : ask.queries) neighbours.push_back(nearest(targets[q]));
    lookup.answered(ask, neighbours);
  }

  std::vector<Contact> all;
  std::set<Id> dead;
  std::size_t k;
};

}  // namespace

TEST_CASE("no more questions are under way than there are workers") {
  Net const net(50);
  Lookup lookup({Id::of_text("t")}, net.all, Id{}, {20, 3, 1});
  std::deque<Lookup::Ask> open;
  std::size_t most = 0;
  while (!lookup.done()) {
    while (auto ask = lookup.next()) open.push_back(*ask);
    most = std::max(most, open.size());
    if (open.empty()) break;
    net.answer(lookup, open.front(), {Id::of_text("t")});
    open.pop_front();
  }
  CHECK(lookup.done());
  CHECK(most == 3);
}

TEST_CASE("nobody is asked twice for one query, nor are we") {
  Net const net(60);
  Id const own = net.all[5].id;
  std::vector<Id> const targets{Id::of_text("a"), Id::of_text("b"), Id::of_text("c")};
  Lookup lookup(targets, {net.all[0], net.all[1]}, own, {10, 4, 2});
  std::set<std::pair<Id, std::size_t>> asked;
  while (auto ask = lookup.next()) {
    CHECK(ask->queries.size() <= 2);
    CHECK(ask->peer.id != own);
    for (auto const q : ask->queries) CHECK(asked.insert({ask->peer.id, q}).second);
    net.answer(lookup, *ask, targets);
  }
  CHECK(lookup.done());
  for (std::size_t q = 0; q < 3; ++q) {
    auto const found = lookup.nearest(q);
    auto truth = net.nearest(targets[q]);
    std::erase_if(truth, [&](auto const& c) { return c.id == own; });
    REQUIRE(found.size() >= truth.size());
    CHECK(std::equal(truth.begin(), truth.end(), found.begin()));
  }
}

TEST_CASE("dead nodes leave the results and make room for others") {
  Net net(100, 20);
  Id const target = Id::of_text("t");
  auto const near = net.nearest(target);
  for (std::size_t i = 0; i < 10; ++i) net.dead.insert(near[i].id);
  Lookup lookup({target}, {net.all[0], net.all[1], net.all[2]}, Id{}, {10, 4, 1});
  while (auto ask = lookup.next()) net.answer(lookup, *ask, {target});
  auto const found = lookup.nearest(0);
  REQUIRE(found.size() == 10);
  for (auto const& c : found) CHECK_FALSE(net.dead.contains(c.id));
  CHECK(found.front().id == near[10].id);
}

TEST_CASE("a search without anybody to ask is over at once") {
  Lookup lookup({Id::of_text("t")}, {}, Id{}, {});
  CHECK_FALSE(lookup.next());
  CHECK(lookup.done());
  CHECK(lookup.nearest(0).empty());
}

TEST_CASE("a finished query asks no more, and late answers do no harm") {
  Net const net(30);
  Lookup lookup({Id::of_text("t")}, net.all, Id{}, {20, 4, 1});
  auto const first = lookup.next();
  auto const second = lookup.next();
  REQUIRE(first);
  REQUIRE(second);
  lookup.finish(0);
  lookup.finish(0);
  CHECK(lookup.done());
  CHECK_FALSE(lookup.next());
  net.answer(lookup, *first, {Id::of_text("t")});
  lookup.failed(*second);
}

TEST_CASE("invented contacts, nearer and nearer, do not keep a search alive for ever") {
  Id const target = Id::of_text("t");
  Lookup lookup({target}, {contact(0)}, Id{}, {20, 4, 1});
  std::uint32_t invented = 0;
  std::size_t asks = 0;
  while (auto ask = lookup.next()) {
    ++asks;
    std::vector<Contact> lies;
    for (int i = 0; i < 20; ++i) {
      Contact c{target, *PeerId::from_bytes(as_bytes("liar"))};
      // Distances that shrink with every invention.
      store_be(
          MutableBytes(c.id.bytes).subspan(16),
          load_be<std::uint32_t>(ByteView(target.bytes).subspan(16)) ^ (0xffffffffu - ++invented));
      lies.push_back(c);
    }
    lookup.answered(*ask, {lies});
  }
  CHECK(lookup.done());
  CHECK(asks <= Lookup::kMaxAsks);
}

TEST_CASE("a contact that is dropped stands in no result") {
  Net const net(10);
  Lookup lookup({Id::of_text("t")}, net.all, Id{}, {20, 4, 1});
  auto const ask = lookup.next();
  REQUIRE(ask);
  net.answer(lookup, *ask, {Id::of_text("t")});
  lookup.drop(ask->peer);
  for (auto const& c : lookup.nearest(0)) CHECK(c.id != ask->peer.id);
}
