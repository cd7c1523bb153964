// SPDX-License-Identifier: MIT
#include "core/averaging/matchmaking.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::averaging;

namespace {

// Ids in ascending order of bytes.
PeerId id(std::size_t n) {
  static std::vector<PeerId> const sorted = [] {
    std::vector<PeerId> ids;
    for (std::uint64_t i = 0; i < 8; ++i) ids.push_back(sim::peer(i));
    std::sort(ids.begin(), ids.end());
    return ids;
  }();
  return sorted[n];
}

Matchmaking rules(std::size_t self,
                  double declared,
                  std::optional<std::size_t> target = std::nullopt) {
  Matchmaking::Settings settings;
  settings.self = id(self);
  settings.schema_hash = to_bytes("schema");
  settings.target_group_size = target;
  Matchmaking m(settings);
  m.begin("p.0b", Gather{}.encode());
  m.declare(declared);
  return m;
}

JoinRequest request(double expiration) {
  return {to_bytes("schema"), expiration, Gather{}.encode(), false, "p.0b"};
}

bool nobody(PeerId const&) {
  return false;
}

}  // namespace

TEST_CASE("Matchmaking: checks a request in hivemind's order") {
  auto m = rules(3, 100);
  using Code = MessageCode;
  CHECK(m.check_join(id(1), request(100), false) == Code::accepted);
  auto r = request(200);
  r.schema_hash.clear();
  r.group_key = "other.0b";
  CHECK(m.check_join(id(1), r, false) == Code::protocol_violation);
  r.schema_hash = to_bytes("another");
  CHECK(m.check_join(id(1), r, false) == Code::bad_schema_hash);
  r.schema_hash = to_bytes("schema");
  CHECK(m.check_join(id(1), r, false) == Code::bad_group_key);
  r.group_key = "p.0b";
  m.declare(Matchmaking::kUndeclared);
  CHECK(m.check_join(id(1), r, false) == Code::not_declared);
  m.declare(100);
  CHECK(m.check_join(id(1), request(99), false) == Code::bad_expiration_time);
  CHECK(m.check_join(id(1), request(NAN), false) == Code::protocol_violation);
  auto const follower = m.accept(id(1), request(100));
  CHECK(m.check_join(id(1), request(100), false) == Code::duplicate_peer_id);
  CHECK(m.check_join(id(3), request(100), false) == Code::duplicate_peer_id);
  m.follow(id(0));
  CHECK(m.check_join(id(2), request(100), false) == Code::not_a_leader);
  CHECK(follower->fate == Follower::Fate::disbanded);
  CHECK(follower->suggested_leader == id(0));
  m.end();
  CHECK(m.check_join(id(2), request(100), false) == Code::not_looking_for_group);
  auto full = rules(3, 100, 2);
  (void)full.accept(id(1), request(100));
  CHECK(full.check_join(id(2), request(100), false) == Code::group_is_full);
}

TEST_CASE("Matchmaking: of two that ask each other with one expiration exactly one leads") {
  auto low = rules(1, 100);
  auto high = rules(2, 100);
  CHECK(low.check_join(id(2), request(100), true) == MessageCode::accepted);
  CHECK(high.check_join(id(1), request(100), true) == MessageCode::bad_expiration_time);
}

TEST_CASE(
    "Matchmaking: asks the earliest that expires before itself, each once, and whom it is sent "
    "to") {
  auto m = rules(3, 100);
  m.listed(
      {{id(5), 90}, {id(4), 80}, {id(2), 100}, {id(6), 100}, {id(7), 120}, {id(3), 1}, {id(1), 5}},
      10);
  std::vector<PeerId> asked;
  while (auto const c = m.next_leader(nobody)) {
    asked.push_back(c->peer);
    m.asked(*c);
  }
  CHECK(asked == std::vector<PeerId>{id(4), id(5), id(2)});
  m.suggested(id(7));
  REQUIRE(m.next_leader(nobody));
  CHECK(m.next_leader(nobody)->peer == id(7));
  m.asked(*m.next_leader(nobody));
  CHECK_FALSE(m.next_leader(nobody));
  for (int i = 0; i < 100; ++i) {
    m.suggested(id(static_cast<std::size_t>(i % 2 == 0 ? 6 : 7)));
    auto const c = m.next_leader(nobody);
    if (!c) break;
    m.asked(*c);
    CHECK(i < 10);  // two leaders that send it to and fro cannot keep it busy
  }
  m.listed({{id(4), 81}}, 10);  // declared anew
  CHECK(m.next_leader(nobody)->peer == id(4));
  CHECK_FALSE(m.next_leader([](PeerId const&) { return true; }));
}

TEST_CASE("Matchmaking: a leader assembles everybody who is still there, in random order") {
  std::set<std::vector<PeerId>> orders;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    auto m = rules(0, 100);
    auto const a = m.accept(id(1), request(100));
    auto const b = m.accept(id(2), request(100));
    auto const c = m.accept(id(3), request(100));
    m.left(b);
    CHECK(b->fate == Follower::Fate::gone);
    CHECK(m.has_all({id(1), id(3), id(0)}));
    CHECK_FALSE(m.has_all({id(2)}));
    auto state = draw;
    auto const group = m.assemble(to_bytes("group"), [&](std::uint64_t bound) {
      return (state = state * 6364136223846793005u + 1442695040888963407u) / 65537 % bound;
    });
    REQUIRE(group);
    CHECK((*group)->size() == 3);
    CHECK(a->fate == Follower::Fate::begins);
    CHECK(c->group == *group);
    CHECK(m.check_join(id(4), request(100), false) == MessageCode::not_looking_for_group);
    orders.insert((*group)->members);
    // A follower comes to the same group by the leader's word.
    auto f = rules(3, 100);
    f.follow(id(0));
    auto const joined = f.joined((*group)->begin_message());
    REQUIRE(joined);
    CHECK((*joined)->members == (*group)->members);
    auto stranger = rules(5, 100);
    stranger.follow(id(0));
    CHECK_FALSE(stranger.joined((*group)->begin_message()));
  }
  CHECK(orders.size() >= 4);
}
