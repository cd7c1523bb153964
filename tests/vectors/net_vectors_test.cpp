// SPDX-License-Identifier: MIT
// js-libp2p's bytes for multistream, Noise, yamux and identify, replayed.
#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"
#include "core/net/identify.hpp"
#include "core/net/multistream.hpp"
#include "core/net/noise_stream.hpp"
#include "core/net/yamux.hpp"

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"
#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::net;
using nlohmann::json;

namespace {

json const& libp2p() {
  return test::vectors("libp2p");
}

crypto::X25519Key key32(json const& hex) {
  auto const bytes = test::unhex(hex);
  crypto::X25519Key key;
  REQUIRE(bytes.size() == key.size());
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

crypto::Identity identity(std::string const& peer) {
  for (auto const& key : libp2p()["keys"])
    if (key["peer_id"] == peer) {
      auto loaded = crypto::Identity::from_protobuf(test::unhex(key["private_key_protobuf"]));
      REQUIRE(loaded);
      return *std::move(loaded);
    }
  FAIL("no key of ", peer);
  return crypto::Identity::generate();
}

std::string hex(ByteView bytes) {
  return to_hex(bytes);
}

void check_state(NoiseSymmetric const& symmetric, json const& expected) {
  CHECK(hex(symmetric.hash()) == expected["h"]);
  CHECK(hex(symmetric.chaining_key()) == expected["ck"]);
  REQUIRE(symmetric.key().has_value() == !expected["k"].is_null());
  if (symmetric.key()) CHECK(hex(*symmetric.key()) == expected["k"]);
}

/// The muxers that a vector's payload lists: they are its only text with a leading slash.
std::vector<std::string> muxers_of(json const& payload) {
  std::string const bytes = to_string(test::unhex(payload));
  std::vector<std::string> muxers;
  for (std::string const name : {"/yamux/1.0.0", "/mplex/6.7.0"})
    if (bytes.find(name) != std::string::npos) muxers.push_back(name);
  return muxers;
}

}  // namespace

TEST_CASE("multistream tokens are js-libp2p's bytes, both ways") {
  auto const& group = libp2p()["multistream"];
  test::announce("libp2p/multistream", group["messages"].size() + 4);
  for (auto const& message : group["messages"]) {
    std::string const text = message["text"];
    auto const bytes = test::unhex(message["bytes"]);
    if (bytes.size() > 3 && text.size() + 1 < 128) {
      CHECK(hex(multistream::encode(text)) == message["bytes"]);
      auto const decoded = multistream::decode(ByteView(bytes).subspan(1));
      REQUIRE(decoded);
      CHECK(*decoded == text);
    }
  }
  auto const& longer = group["long_message"];
  std::string const text(longer["text_length"].get<std::size_t>(), 'x');
  auto const encoded = multistream::encode("/" + text.substr(1));
  CHECK(encoded.size() == longer["total"]);
  CHECK(hex(multistream::opening("/noise")) == group["pipelined_dialer"]["bytes"]);
}

TEST_CASE("multistream answers as js-libp2p does") {
  auto const& group = libp2p()["multistream"];

  struct Case {
    Bytes dialer;
    Bytes listener;
  };

  Bytes two = multistream::opening("/tls/1.0.0");
  append(two, multistream::encode("/noise"));
  std::vector<Case> const cases{{test::unhex(group["pipelined_dialer"]["bytes"]),
                                 test::unhex(group["listener_accepts"]["bytes"])},
                                {two, test::unhex(group["listener_refuses_then_accepts"]["bytes"])},
                                {test::unhex(group["simultaneous_open"]["first"]),
                                 test::unhex(group["listener_refuses_then_accepts"]["bytes"])}};
  for (auto const& one : cases) {
    SystemRuntime runtime;
    auto body = [](Runtime& r, Case const& c) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      Bytes sent = c.dialer;
      append(sent, as_bytes("payload"));
      auto const wrote = co_await left->write(sent, deadline);
      CHECK(wrote);
      std::function<bool(std::string_view)> const serves = [](std::string_view name) {
        return name == "/noise";
      };
      auto const agreed = co_await multistream::answer(*right, serves, deadline);
      REQUIRE(agreed);
      CHECK(*agreed == "/noise");
      Bytes reply(c.listener.size());
      auto const read = co_await read_exactly(*left, reply, deadline);
      CHECK(read);
      CHECK(to_hex(reply) == to_hex(c.listener));
      // What follows the token is still in the pipe.
      Bytes rest(7);
      auto const tail = co_await read_exactly(*right, rest, deadline);
      CHECK(tail);
      CHECK(as_text(rest) == "payload");
    };
    test::run(runtime, body(runtime, one));
  }
}

TEST_CASE("noise handshakes replay, state after state") {
  auto const& group = libp2p()["noise"];
  std::size_t count = 0;
  for (auto const& handshake : group["handshakes"]) {
    std::string const label = handshake["label"];
    CAPTURE(label);
    auto const initiator_identity = identity(handshake["initiator_identity"]);
    auto const responder_identity = identity(handshake["responder_identity"]);
    bool const extensions = label.find("no extensions") == std::string::npos;
    std::vector<std::string> initiator_muxers;
    std::vector<std::string> responder_muxers;
    if (extensions) {
      initiator_muxers = muxers_of(handshake["initiator_payload"]);
      responder_muxers = muxers_of(handshake["responder_payload"]);
    }
    NoiseHandshake initiator(NoiseHandshake::Role::initiator,
                             initiator_identity,
                             key32(group["initiator_static"]["secret"]),
                             key32(group["initiator_ephemeral"]["secret"]),
                             initiator_muxers);
    NoiseHandshake responder(NoiseHandshake::Role::responder,
                             responder_identity,
                             key32(group["responder_static"]["secret"]),
                             key32(group["responder_ephemeral"]["secret"]),
                             responder_muxers);
    check_state(initiator.symmetric(), handshake["initial"]);
    Bytes message;
    for (auto const& step : handshake["messages"]) {
      ++count;
      CAPTURE(step["n"].get<int>());
      NoiseHandshake& writer = step["from"] == "initiator" ? initiator : responder;
      auto const out = writer.step(message);
      REQUIRE(out);
      CHECK(hex(*out) == step["noise_message"]);
      check_state(writer.symmetric(), step["after"]);
      message = *out;
    }
    auto const last = responder.step(message);
    REQUIRE(last);
    CHECK(last->empty());
    REQUIRE(initiator.finished());
    REQUIRE(responder.finished());
    CHECK(crypto::to_text(*initiator.remote()) == handshake["responder_identity"]);
    CHECK(crypto::to_text(*responder.remote()) == handshake["initiator_identity"]);
    CHECK(hex(initiator.keys().send) == handshake["split"]["initiator_to_responder_key"]);
    CHECK(hex(initiator.keys().receive) == handshake["split"]["responder_to_initiator_key"]);
    CHECK(responder.keys().send == initiator.keys().receive);
    auto const agreed =
        extensions ? NoiseHandshake::Muxer::agreed : NoiseHandshake::Muxer::undecided;
    CHECK(initiator.muxer() == agreed);
    CHECK(responder.muxer() == agreed);
  }
  test::announce("libp2p/noise", count);
}

TEST_CASE("noise transport frames replay, written and read") {
  auto const& group = libp2p()["noise"];
  std::size_t count = 0;
  for (auto const& handshake : group["handshakes"]) {
    count += handshake["transport"].size();
    SystemRuntime runtime;
    auto body = [](Runtime& r, json const& h) -> Co<void> {
      auto const split = [&h](char const* name) { return key32(h["split"][name]); };
      NoiseHandshake::Keys keys{split("initiator_to_responder_key"),
                                split("responder_to_initiator_key")};
      NoiseHandshake::Keys mirrored{keys.receive, keys.send};
      auto [a, wire_a] = sim::memory_pair(r);
      auto [b, wire_b] = sim::memory_pair(r);
      NoiseStream initiator(std::move(a), keys);
      NoiseStream responder(std::move(b), mirrored);
      TimePoint const deadline = r.now() + seconds(5);
      for (auto const& frame : h["transport"]) {
        bool const from_initiator = frame["from"] == "initiator";
        NoiseStream& writer = from_initiator ? initiator : responder;
        NoiseStream& reader = from_initiator ? responder : initiator;
        Stream& tap = from_initiator ? *wire_a : *wire_b;
        Stream& into = from_initiator ? *wire_b : *wire_a;
        Bytes const wire = test::unhex(frame["wire"]);
        Bytes const plain = test::unhex(frame["plaintext"]);
        if (plain.empty()) {
          // We write no empty messages, but skip theirs: checked with the frame after it. Its nonce
          // has to be used up, though, which only sealing does.
          crypto::Aead sealer(from_initiator ? keys.send : keys.receive);
          Bytes sealed(crypto::kAeadTagBytes);
          sealer.seal(frame["nonce"].get<std::uint64_t>(), {}, {}, sealed);
          CHECK(to_hex(sealed) == to_hex(ByteView(wire).subspan(2)));
          auto const sent = co_await into.write(wire, deadline);
          CHECK(sent);
          continue;
        }
        auto const sent = co_await into.write(wire, deadline);
        CHECK(sent);
        Bytes got(plain.size());
        auto const read = co_await read_exactly(reader, got, deadline);
        CHECK(read);
        CHECK(to_hex(got) == to_hex(plain));
        crypto::Aead sealer(from_initiator ? keys.send : keys.receive);
        Bytes sealed(plain.size() + crypto::kAeadTagBytes);
        sealer.seal(frame["nonce"].get<std::uint64_t>(), {}, plain, sealed);
        CHECK(to_hex(sealed) == to_hex(ByteView(wire).subspan(2)));
        if (frame["nonce"] == 0) {
          auto const wrote = co_await writer.write(plain, deadline);
          CHECK(wrote);
          Bytes written(wire.size());
          auto const tapped = co_await read_exactly(tap, written, deadline);
          CHECK(tapped);
          CHECK(to_hex(written) == to_hex(wire));
        }
      }
    };
    test::run(runtime, body(runtime, handshake));
  }
  test::announce("libp2p/noise transport", count);
}

TEST_CASE("yamux headers are js-libp2p's bytes, both ways") {
  auto const& group = libp2p()["yamux"];
  test::announce("libp2p/yamux", group.size());
  for (auto const& frame : group) {
    std::string const what = frame["what"];
    CAPTURE(what);
    auto const bytes = test::unhex(frame["bytes"]);
    auto const header = yamux::Header::parse(ByteView(bytes).first<yamux::kHeaderBytes>());
    REQUIRE(header);
    CHECK(static_cast<int>(header->type) == frame["type"]);
    CHECK(header->flags == frame["flags"]);
    CHECK(header->stream == frame["stream_id"]);
    CHECK(header->length == frame["length"]);
    Bytes out;
    header->append_to(out);
    CHECK(to_hex(out) == to_hex(ByteView(bytes).first(yamux::kHeaderBytes)));
  }
}

TEST_CASE("identify: one part, two parts and our own writing mean the same") {
  auto const& group = libp2p()["identify"];
  test::announce("libp2p/identify", 3);
  auto const& fields = group["fields"];
  auto const check = [&](identify::Message const& message) {
    REQUIRE(message.public_key);
    CHECK(to_hex(message.public_key->to_protobuf()) == fields["publicKey"]);
    CHECK(message.agent == fields["agentVersion"]);
    CHECK(message.protocol_version == fields["protocolVersion"]);
    REQUIRE(message.observed);
    CHECK(message.observed->text() == fields["observedAddr"]);
    CHECK(json(message.protocols) == fields["protocols"]);
    json addresses = json::array();
    for (auto const& address : message.listen_addresses) addresses.push_back(address.text());
    CHECK(addresses == fields["listenAddrs"]);
    // The vector's record is signed by the same peer.
    auto const record_addresses = identify::believed_addresses(
        message, message.public_key->peer_id(), *wire::Multiaddr::parse("/ip4/9.9.9.9/tcp/1"));
    CHECK(!message.signed_record.empty());
    CHECK(!record_addresses.empty());
  };
  auto const whole = identify::decode(test::unhex(group["message"]));
  REQUIRE(whole);
  check(*whole);
  auto const again = identify::encode(*whole);
  REQUIRE(again.size() == 1);
  auto const ours = identify::decode(again.front());
  REQUIRE(ours);
  check(*ours);
  CHECK(*ours == *whole);
  for (auto const* form : {"on_the_wire", "in_two_parts_on_the_wire"}) {
    SystemRuntime runtime;
    auto body = [](Runtime& r, Bytes wire, identify::Message const& expected) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      auto const wrote = co_await left->write(wire, deadline);
      CHECK(wrote);
      auto const closed = co_await left->close_write(deadline);
      CHECK(closed);
      auto const message = co_await identify::receive(r, *right, deadline);
      REQUIRE(message);
      CHECK(*message == expected);
    };
    test::run(runtime, body(runtime, test::unhex(group[form]), *whole));
  }
}
