// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/crypto/keys.hpp"
#include "core/crypto/multibase.hpp"
#include "core/crypto/peer_id.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using test::unhex;

TEST_SUITE("vectors: keys") {
  TEST_CASE("keys of every type give their public halves, ids and signatures") {
    auto const& cases = test::vectors("libp2p").at("keys");
    test::announce("libp2p/keys", cases.size());
    for (auto const& c : cases) {
      CAPTURE(c.at("name").get<std::string>());
      auto const identity = crypto::Identity::from_protobuf(unhex(c.at("private_key_protobuf")));
      REQUIRE_MESSAGE(identity.has_value(), identity.error().detail);
      CHECK(identity->to_protobuf() == unhex(c.at("private_key_protobuf")));
      CHECK(to_hex(identity->public_key().data()) == c.at("public_key_data").get<std::string>());

      auto const serialized = unhex(c.at("public_key_protobuf"));
      CHECK(identity->public_key().to_protobuf() == serialized);
      CHECK(serialized.size() == c.at("public_key_protobuf_length").get<std::size_t>());
      auto const key = crypto::PublicKey::from_protobuf(serialized);
      REQUIRE_MESSAGE(key.has_value(), key.error().detail);
      CHECK(*key == identity->public_key());
      CHECK(to_hex(key->peer_id().bytes()) == c.at("peer_id_bytes").get<std::string>());
      CHECK(crypto::to_text(key->peer_id()) == c.at("peer_id").get<std::string>());
      auto const cid = crypto::parse_peer_id(c.at("peer_id_cid_v1_base32").get<std::string>());
      REQUIRE(cid);
      CHECK(*cid == key->peer_id());
      bool const holds_key = c.at("multihash") == "identity";
      CHECK(crypto::PublicKey::from_peer_id(key->peer_id()).has_value() == holds_key);

      auto const message = unhex(c.at("signed_message"));
      auto const signature = unhex(c.at("signature"));
      CHECK(key->verify(message, signature));
      auto const ours = identity->sign(message);
      CHECK(key->verify(message, ours));
      if (key->type() == crypto::KeyType::ed25519 || key->type() == crypto::KeyType::rsa)
        CHECK(ours == signature);

      auto wrong_message = message;
      wrong_message[3] ^= std::byte{1};
      CHECK(key->verify(wrong_message, signature).error().code == Errc::bad_signature);
      auto wrong_signature = signature;
      wrong_signature.back() ^= std::byte{1};
      CHECK(key->verify(message, wrong_signature).error().code == Errc::bad_signature);
    }
  }

  TEST_CASE("the old 96-byte form of Ed25519 secrets reads as the new one") {
    auto const& group = test::vectors("libp2p").at("ed25519_private_96_byte_form");
    test::announce("libp2p/ed25519_private_96_byte_form", 2);
    auto const old_form = crypto::Identity::from_protobuf(unhex(group.at("private_key_protobuf")));
    REQUIRE(old_form);
    for (auto const& c : test::vectors("libp2p").at("keys"))
      if (c.at("name") == group.at("same_key_as"))
        CHECK(crypto::to_text(old_form->peer_id()) == c.at("peer_id").get<std::string>());
    auto const bad = crypto::Identity::from_protobuf(unhex(group.at("bad_private_key_protobuf")));
    REQUIRE(!bad);
    CHECK(bad.error().code == Errc::malformed);
  }

  TEST_CASE("hivemind's identity files and peer ids") {
    auto const& cases = test::vectors("dht").at("peer_ids");
    test::announce("dht/peer_ids", cases.size());
    for (auto const& c : cases) {
      auto const identity = crypto::Identity::from_protobuf(unhex(c.at("identity_file")));
      REQUIRE(identity);
      CHECK(identity->to_protobuf() == unhex(c.at("identity_file")));
      CHECK(identity->public_key().to_protobuf() == unhex(c.at("public_key_protobuf")));
      CHECK(equal(identity->peer_id().bytes(), unhex(c.at("peer_id_bytes"))));
      CHECK(crypto::to_text(identity->peer_id()) == c.at("peer_id").get<std::string>());
      if (!c.contains("seed")) continue;
      auto const seed = unhex(c.at("seed"));
      auto const seeded = crypto::Identity::from_seed(std::span<std::byte const, 32>(seed));
      CHECK(seeded.peer_id() == identity->peer_id());
    }
  }
}

TEST_SUITE("vectors: peer ids") {
  TEST_CASE("base58 and CID texts read as the same bytes") {
    auto const& cases = test::vectors("libp2p").at("peer_id_text");
    test::announce("libp2p/peer_id_text", cases.size());
    for (auto const& c : cases) {
      auto const bytes = unhex(c.at("bytes"));
      for (auto const* form : {"text", "base58btc", "cid"}) {
        auto const id = crypto::parse_peer_id(c.at(form).get<std::string>());
        REQUIRE(id);
        CHECK(equal(id->bytes(), bytes));
        CHECK(crypto::to_text(*id) == c.at("base58btc").get<std::string>());
      }
      Bytes cid{std::byte{0x01}, std::byte{0x72}};
      append(cid, bytes);
      CHECK(crypto::multibase_base32(cid) == c.at("cid").get<std::string>());
    }
  }
}
