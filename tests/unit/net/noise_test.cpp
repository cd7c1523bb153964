// SPDX-License-Identifier: MIT
#include "core/net/noise.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net;

namespace {

crypto::X25519Key key(int fill) {
  crypto::X25519Key secret;
  secret.fill(static_cast<std::byte>(fill));
  return secret;
}

struct Both {
  crypto::Identity alice = crypto::Identity::generate();
  crypto::Identity bob = crypto::Identity::generate();
  NoiseHandshake initiator{NoiseHandshake::Role::initiator, alice, key(1), key(2)};
  NoiseHandshake responder{NoiseHandshake::Role::responder, bob, key(3), key(4)};
};

}  // namespace

TEST_SUITE("NoiseHandshake") {
  TEST_CASE("both ends learn who the other is and agree on keys and muxer") {
    Both both;
    auto const one = both.initiator.step({});
    auto const two = both.responder.step(*one);
    auto const three = both.initiator.step(*two);
    auto const end = both.responder.step(*three);
    REQUIRE(end);
    CHECK(end->empty());
    CHECK(both.initiator.remote() == both.bob.peer_id());
    CHECK(both.responder.remote() == both.alice.peer_id());
    CHECK(both.initiator.keys().send == both.responder.keys().receive);
    CHECK(both.initiator.keys().receive == both.responder.keys().send);
    CHECK(both.initiator.keys().send != both.initiator.keys().receive);
    CHECK(both.initiator.muxer() == NoiseHandshake::Muxer::agreed);
    CHECK(!both.responder.step({}));
  }

  TEST_CASE("each flipped bit of messages 2 and 3 is found") {
    Both sample;
    auto const size2 = sample.responder.step(*sample.initiator.step({}))->size();
    for (std::size_t at = 0; at < size2; at += 3) {
      Both both;
      auto two = *both.responder.step(*both.initiator.step({}));
      two[at] ^= std::byte{1};
      CHECK(!both.initiator.step(two));
      CHECK(!both.initiator.finished());
      CHECK(!both.initiator.step(two));  // it stays over
    }
    for (std::size_t at = 0; at < 200; at += 7) {
      Both both;
      auto three = *both.initiator.step(*both.responder.step(*both.initiator.step({})));
      if (at >= three.size()) break;
      three[at] ^= std::byte{0x80};
      CHECK(!both.responder.step(three));
      CHECK(!both.responder.remote_key().has_value());
    }
  }

  TEST_CASE("messages of a wrong length and low-order keys are refused") {
    for (std::size_t const size :
         {std::size_t{0}, std::size_t{31}, std::size_t{33}, std::size_t{5000}}) {
      Both both;
      CHECK(!both.responder.step(Bytes(size)));
    }
    Both zero;
    auto const reply = zero.responder.step(Bytes(32));
    REQUIRE(!reply);
    CHECK(reply.error().code == Errc::bad_signature);
    Both brief;
    (void)brief.initiator.step({});
    CHECK(!brief.initiator.step(Bytes(95)));
    Both huge;
    auto const large = huge.responder.step(Bytes(kMaxNoiseMessage + 1));
    REQUIRE(!large);
    CHECK(large.error().code == Errc::too_large);
  }

  TEST_CASE("without extensions on one side the muxer stays undecided") {
    auto const alice = crypto::Identity::generate();
    auto const bob = crypto::Identity::generate();
    NoiseHandshake initiator(NoiseHandshake::Role::initiator, alice, key(1), key(2), {});
    NoiseHandshake responder(NoiseHandshake::Role::responder, bob, key(3), key(4));
    auto const three = initiator.step(*responder.step(*initiator.step({})));
    REQUIRE(responder.step(*three));
    CHECK(initiator.muxer() == NoiseHandshake::Muxer::undecided);
    CHECK(responder.muxer() == NoiseHandshake::Muxer::undecided);
  }
}
