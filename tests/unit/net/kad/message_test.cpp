// SPDX-License-Identifier: MIT
#include "core/net/kad/message.hpp"

#include <doctest/doctest.h>

#include "core/base/protobuf.hpp"

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::net;

TEST_CASE("what is encoded decodes to the same") {
  kad::Message message;
  message.type = kad::MessageType::get_providers;
  message.key = to_bytes("key");
  message.cluster_level = -3;
  message.closer_peers.push_back({sim::peer(1),
                                  {*wire::Multiaddr::parse("/ip4/10.0.0.1/tcp/1")},
                                  kad::Connection::can_connect});
  message.closer_peers.push_back({sim::peer(2), {}, kad::Connection::not_connected});
  message.provider_peers.push_back({sim::peer(3), {}, kad::Connection::cannot_connect});
  auto const decoded = kad::Message::decode(message.encode());
  REQUIRE(decoded);
  CHECK(decoded->type == message.type);
  CHECK(decoded->key == message.key);
  CHECK(decoded->cluster_level == -3);
  CHECK(decoded->closer_peers == message.closer_peers);
  CHECK(decoded->provider_peers == message.provider_peers);
}

TEST_CASE("an unreadable peer or an unknown transport costs only itself") {
  Bytes peer;
  protobuf::append_field(peer, 1, sim::peer(1).bytes());
  protobuf::append_field(peer, 2, *from_hex("ff7f00"));
  protobuf::append_field(peer, 2, wire::Multiaddr::parse("/ip4/10.0.0.1/tcp/1")->bytes());
  protobuf::append_field(peer, 3, 77);
  Bytes nobody;
  protobuf::append_field(nobody, 1, as_bytes("nobody"));
  Bytes body;
  protobuf::append_field(body, 1, 4);
  protobuf::append_field(body, 8, nobody);
  protobuf::append_field(body, 8, peer);
  auto const decoded = kad::Message::decode(body);
  REQUIRE(decoded);
  REQUIRE(decoded->closer_peers.size() == 1);
  CHECK(decoded->closer_peers[0].id == sim::peer(1));
  CHECK(decoded->closer_peers[0].addresses.size() == 1);
}

TEST_CASE("unknown types, wrong wire types and cut messages are malformed") {
  for (auto const* hex :
       {"0806", "0a00", "1001", "4001", "4202", "420208", "08ffffffffffffffffffff01"}) {
    auto const bad = kad::Message::decode(*from_hex(hex));
    REQUIRE(!bad);
    CHECK(bad.error().code == Errc::malformed);
  }
}

TEST_CASE("of endless lists only the first are read") {
  Bytes peer;
  protobuf::append_field(peer, 1, sim::peer(1).bytes());
  for (int i = 0; i < 1000; ++i)
    protobuf::append_field(peer, 2, wire::Multiaddr::parse("/ip4/10.0.0.1/tcp/1")->bytes());
  Bytes body;
  for (int i = 0; i < 200; ++i) protobuf::append_field(body, 8, peer);
  auto const decoded = kad::Message::decode(body);
  REQUIRE(decoded);
  CHECK(decoded->closer_peers.size() == kad::kMaxPeersRead);
  CHECK(decoded->closer_peers[0].addresses.size() == kad::kMaxAddressesRead);
}
