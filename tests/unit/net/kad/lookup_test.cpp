// SPDX-License-Identifier: MIT
#include "core/net/kad/lookup.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

std::vector<PeerId> peers_by_distance(kad::Id const& target,
                                      std::uint64_t first,
                                      std::uint64_t count) {
  std::vector<PeerId> peers;
  for (std::uint64_t i = first; i < first + count; ++i) peers.push_back(sim::peer(i));
  std::sort(peers.begin(), peers.end(), [&](PeerId const& a, PeerId const& b) {
    return kad::distance(target, kad::Id::of(a)) < kad::distance(target, kad::Id::of(b));
  });
  return peers;
}

kad::PeerEntry entry(PeerId const& peer) {
  return {peer, {}, kad::Connection::not_connected};
}

}  // namespace

TEST_CASE("ten are asked at once, the closest first, and three answers end it") {
  auto const target = kad::Id::of(sim::peer(0));
  auto const peers = peers_by_distance(target, 1, 20);
  kad::Lookup lookup(target, sim::peer(100), peers);
  for (std::size_t i = 0; i < 10; ++i) CHECK(lookup.next() == peers[i]);
  CHECK(!lookup.next());
  lookup.answered(peers[2], {});
  CHECK(lookup.next() == peers[10]);
  lookup.answered(peers[0], {});
  CHECK(!lookup.done());
  lookup.answered(peers[1], {});
  CHECK(lookup.done());
  CHECK(!lookup.next());
}

TEST_CASE("who fails does not count among the closest") {
  auto const target = kad::Id::of(sim::peer(0));
  auto const peers = peers_by_distance(target, 1, 5);
  kad::Lookup lookup(target, sim::peer(100), peers);
  while (lookup.next()) {
  }
  lookup.failed(peers[0]);
  lookup.failed(peers[1]);
  lookup.answered(peers[2], {});
  lookup.answered(peers[3], {});
  CHECK(!lookup.done());
  lookup.answered(peers[4], {});
  CHECK(lookup.done());
  CHECK(lookup.in_flight() == 0);
}

TEST_CASE("what is heard is asked, but neither ourselves nor the target") {
  auto const target = sim::peer(0);
  auto const self = sim::peer(100);
  kad::Lookup lookup(kad::Id::of(target), self, std::vector{sim::peer(1)});
  CHECK(lookup.next() == sim::peer(1));
  lookup.answered(
      sim::peer(1),
      std::vector{entry(self), entry(target), entry(sim::peer(2)), entry(sim::peer(1))});
  CHECK(lookup.next() == sim::peer(2));
  CHECK(!lookup.next());
  lookup.answered(sim::peer(2), {});
  CHECK(lookup.done());
  CHECK(lookup.asked() == 2);
}

TEST_CASE("liars that name peers for ever do not make us remember them all") {
  auto const target = kad::Id::of(sim::peer(0));
  kad::Lookup lookup(target, sim::peer(1), std::vector{sim::peer(2)});
  std::uint64_t named = 1000;
  std::size_t asked = 0;
  while (auto const peer = lookup.next()) {
    std::vector<kad::PeerEntry> lies;
    for (int i = 0; i < 64; ++i) lies.push_back(entry(sim::peer(named++)));
    lookup.answered(*peer, lies);
    REQUIRE(++asked < 10'000);
  }
  CHECK(lookup.done());
}
