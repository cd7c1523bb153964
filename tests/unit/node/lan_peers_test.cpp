// SPDX-License-Identifier: MIT
#include "core/node/lan_peers.hpp"

#include <doctest/doctest.h>

#include "core/crypto/keys.hpp"

using namespace waggle;
using namespace waggle::node;
using namespace std::chrono_literals;

namespace {

net::mdns::FoundPeer peer(int name, std::vector<std::uint16_t> const& ports) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(name);
  net::mdns::FoundPeer out{crypto::Identity::from_seed(seed).peer_id(), {}};
  for (auto const port : ports) out.addresses.push_back(*wire::Multiaddr::tcp("10.0.0.1", port));
  return out;
}

}  // namespace

TEST_CASE("peers of the local network: only what is new is dialled, and the silent are forgotten") {
  LanPeers peers;
  TimePoint const start = TimePoint{} + 1h;
  CHECK(peers.saw(peer(1, {7}), start));
  CHECK_FALSE(peers.saw(peer(1, {7}), start + 1min));
  CHECK(peers.saw(peer(1, {8}), start + 2min));
  auto const all = peers.addresses(start + 2min);
  REQUIRE(all.size() == 2);
  CHECK(all[0] == wire::Multiaddr::tcp("10.0.0.1", 7)->with_peer_id(peer(1, {}).id));
  CHECK(peers.addresses(start + 2min + LanPeers::kKept).size() == 2);
  CHECK(peers.addresses(start + 3min + LanPeers::kKept).empty());
  CHECK(peers.saw(peer(1, {7}), start + 3min + LanPeers::kKept));
}

TEST_CASE("peers of the local network: a flood of names, or of addresses, stops at its limit") {
  LanPeers peers;
  TimePoint const start = TimePoint{} + 1h;
  std::size_t told = 0;
  for (int i = 0; i < 100; ++i) told += peers.saw(peer(i, {1}), start) ? 1 : 0;
  CHECK(told == LanPeers::kMost);
  told = 0;
  for (int i = 0; i < 100; ++i)
    told += peers.saw(peer(0, {static_cast<std::uint16_t>(i + 2)}), start) ? 1 : 0;
  CHECK(told == LanPeers::kMostAddresses - 1);
  CHECK(peers.addresses(start).size() == LanPeers::kMost + LanPeers::kMostAddresses - 1);
  // The first ones gone, there is room again.
  CHECK(peers.saw(peer(99, {1}), start + LanPeers::kKept + 1s));
}
