// SPDX-License-Identifier: MIT
#include "core/net/identify.hpp"

#include <doctest/doctest.h>

#include "core/wire/peer_record.hpp"

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

wire::Multiaddr addr(std::string_view text) {
  return *wire::Multiaddr::parse(text);
}

std::vector<std::string> texts(std::vector<wire::Multiaddr> const& addresses) {
  std::vector<std::string> all;
  for (auto const& a : addresses) all.push_back(a.text());
  return all;
}

}  // namespace

TEST_SUITE("identify") {
  TEST_CASE("the connection's own address decides which addresses are kept") {
    identify::Message message;
    message.listen_addresses = {
        addr("/ip4/127.0.0.1/tcp/1"), addr("/ip4/10.0.0.1/tcp/1"), addr("/ip4/8.8.8.8/tcp/1")};
    auto const peer = crypto::Identity::generate().peer_id();
    auto const kept = [&](char const* connection) {
      return identify::believed_addresses(message, peer, addr(connection)).size();
    };
    CHECK(kept("/ip4/127.0.0.1/tcp/5") == 3);
    CHECK(kept("/ip4/192.168.1.1/tcp/5") == 2);
    CHECK(kept("/ip4/9.9.9.9/tcp/5") == 1);
  }

  TEST_CASE(
      "a valid signed record replaces the list, a broken one does not, another peer's empties it") {
    auto const self = crypto::Identity::generate();
    wire::PeerRecord record;
    record.seq = 1;
    record.addresses = {addr("/ip4/8.8.8.8/tcp/7")};
    identify::Message message;
    message.listen_addresses = {addr("/ip4/9.9.9.9/tcp/9")};
    message.signed_record = record.seal(self);
    auto const connection = addr("/ip4/1.1.1.1/tcp/5");
    CHECK(texts(identify::believed_addresses(message, self.peer_id(), connection)) ==
          std::vector<std::string>{"/ip4/8.8.8.8/tcp/7"});
    auto const other = crypto::Identity::generate().peer_id();
    CHECK(identify::believed_addresses(message, other, connection).empty());
    message.signed_record.back() ^= std::byte{1};
    CHECK(texts(identify::believed_addresses(message, self.peer_id(), connection)) ==
          std::vector<std::string>{"/ip4/9.9.9.9/tcp/9"});
  }

  TEST_CASE("many protocols go out in parts below the limit and come back whole") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      identify::Message message;
      message.agent = "waggle/1";
      for (int i = 0; i < 600; ++i)
        message.protocols.push_back("some_prefix::GradientAverager.rpc_number_" +
                                    std::to_string(i));
      auto const parts = identify::encode(message);
      CHECK(parts.size() > 1);
      for (auto const& part : parts) CHECK(part.size() <= identify::kMaxPart);
      auto [left, right] = sim::memory_pair(r);
      auto const sent = co_await identify::send(*left, message, r.now() + seconds(5));
      CHECK(sent);
      auto const back = co_await identify::receive(r, *right, r.now() + seconds(5));
      REQUIRE(back);
      CHECK(*back == message);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("rubbish, too much and too many parts are refused") {
    CHECK(!identify::decode(*from_hex("ffffffff")));
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      for (std::size_t i = 0; i <= identify::kMaxParts; ++i)
        (void)co_await write_frame(*left, as_bytes("2\x01x"), deadline);
      auto const back = co_await identify::receive(r, *right, deadline);
      REQUIRE(!back);
      CHECK(back.error().code == Errc::too_large);
      auto [a, b] = sim::memory_pair(r);
      Bytes const large(identify::kMaxPart + 1);
      (void)co_await write_frame(*a, large, deadline);
      auto const refused = co_await identify::receive(r, *b, deadline);
      CHECK(!refused);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("bad addresses and keys are left out, the rest stays") {
    identify::Message message;
    message.protocols = {"/a"};
    auto bytes = identify::encode(message).front();
    append(bytes, *from_hex("12030102030a0299992a0178"));
    auto const decoded = identify::decode(bytes);
    REQUIRE(decoded);
    CHECK(decoded->listen_addresses.empty());
    CHECK(!decoded->public_key);
    CHECK(decoded->protocols == message.protocols);
    CHECK(decoded->protocol_version == "x");
  }
}
