// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"
#include "core/net/kad/id.hpp"
#include "core/net/kad/message.hpp"
#include "core/wire/varint.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::net;
using test::unhex;

namespace {

Bytes framed(ByteView body) {
  Bytes out;
  wire::append_varint(out, body.size());
  append(out, body);
  return out;
}

}  // namespace

TEST_CASE("messages of go's form are written byte for byte") {
  auto const& cases = test::vectors("dht").at("kad_dht_messages");
  test::announce("dht/kad_dht_messages", cases.size());
  for (auto const& c : cases) {
    auto const body = unhex(c.at("message"));
    auto const message = kad::Message::decode(body);
    REQUIRE(message);
    CHECK(message->type == kad::MessageType::find_node);
    CHECK(message->cluster_level == 1);
    CHECK(message->encode() == body);
    CHECK(framed(message->encode()) == unhex(c.at("bytes_on_stream")));
    if (!c.contains("target")) continue;
    auto const target = crypto::parse_peer_id(c.at("target").get<std::string>());
    REQUIRE(target);
    kad::Message ours;
    ours.type = kad::MessageType::find_node;
    ours.key = to_bytes(target->bytes());
    CHECK(ours.encode() == body);
  }
}

TEST_CASE("messages of js's form are read, and mean the same in our order of fields") {
  auto const& cases = test::vectors("libp2p").at("kad");
  test::announce("libp2p/kad", cases.size());
  for (auto const& c : cases) {
    auto const body = unhex(c.at("message"));
    CHECK(framed(body) == unhex(c.at("on_the_wire")));
    auto const message = kad::Message::decode(body);
    REQUIRE(message);
    CHECK(message->cluster_level == 0);
    auto const ours = message->encode();
    CHECK(ours.size() == body.size());
    bool const ping = c.at("what") == "PING";
    CHECK(message->type == (ping ? kad::MessageType::ping : kad::MessageType::find_node));
    if (ping) {
      CHECK(ours == body);
      continue;
    }
    auto const& fields = c.at("fields");
    CHECK(message->key == (fields.contains("key") ? unhex(fields.at("key")) : Bytes{}));
    if (!fields.contains("closerPeers")) continue;
    REQUIRE(message->closer_peers.size() == fields.at("closerPeers").size());
    for (std::size_t i = 0; i < message->closer_peers.size(); ++i) {
      auto const& theirs = fields.at("closerPeers")[i];
      auto const& read = message->closer_peers[i];
      CHECK(crypto::to_text(read.id) == theirs.at("id").get<std::string>());
      REQUIRE(read.addresses.size() == theirs.at("addrs").size());
      for (std::size_t k = 0; k < read.addresses.size(); ++k)
        CHECK(read.addresses[k].text() == theirs.at("addrs")[k].get<std::string>());
      CHECK(static_cast<int>(read.connection) == theirs.at("connection").get<int>());
    }
  }
}

TEST_CASE("a peer's place is the SHA-256 of its id's bytes") {
  auto const& cases = test::vectors("dht").at("kad_dht_ids");
  test::announce("dht/kad_dht_ids", cases.size());
  for (auto const& c : cases) {
    auto const peer = crypto::parse_peer_id(c.at("peer_id").get<std::string>());
    REQUIRE(peer);
    CHECK(equal(kad::Id::of(*peer).bytes, unhex(c.at("sha256_of_peer_id_bytes"))));
  }
}

TEST_CASE("distance is XOR") {
  auto const& c = test::vectors("libp2p").at("kad_distance");
  test::announce("libp2p/kad_distance", 1);
  auto const a = kad::Id::of(unhex(c.at("a")));
  auto const b = kad::Id::of(unhex(c.at("b")));
  CHECK(equal(a.bytes, unhex(c.at("sha256_a"))));
  CHECK(equal(b.bytes, unhex(c.at("sha256_b"))));
  CHECK(equal(kad::distance(a, b).bytes, unhex(c.at("xor"))));
  CHECK(kad::common_prefix_bits(a, b) == c.at("common_prefix_bits").get<int>());
}
