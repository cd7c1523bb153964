// SPDX-License-Identifier: MIT
#include "core/wire/peer_record.hpp"

#include <array>

#include <doctest/doctest.h>

#include "core/wire/envelope.hpp"

using namespace waggle;
using wire::Multiaddr;
using wire::PeerRecord;

namespace {

constexpr std::array kType{std::byte{0x03}, std::byte{0x01}};

// One field of a protobuf message; `data` below 128 bytes.
void put(Bytes& out, unsigned field, ByteView data) {
  out.push_back(static_cast<std::byte>(field << 3 | 2));
  out.push_back(static_cast<std::byte>(data.size()));
  append(out, data);
}

Bytes payload(PeerId const& id, std::vector<Bytes> const& addresses) {
  Bytes out;
  put(out, 1, id.bytes());
  for (auto const& address : addresses) {
    Bytes info;
    put(info, 1, address);
    put(out, 3, info);
  }
  return out;
}

}  // namespace

TEST_SUITE("PeerRecord") {
  TEST_CASE("names the signer, whatever it was asked to name, and keeps order and number") {
    auto const identity = crypto::Identity::generate();
    PeerRecord record;
    record.id = crypto::Identity::generate().peer_id();
    record.seq = ~std::uint64_t{0};
    record.addresses = {*Multiaddr::tcp("10.0.0.1", 2), *Multiaddr::tcp("10.0.0.1", 1)};
    auto const opened = PeerRecord::open(record.seal(identity));
    REQUIRE(opened);
    CHECK(opened->id == identity.peer_id());
    CHECK(opened->seq == record.seq);
    CHECK(opened->addresses == record.addresses);
  }

  TEST_CASE("a record of one peer signed by another is refused") {
    auto const liar = crypto::Identity::generate();
    auto const victim = crypto::Identity::generate().peer_id();
    auto const sealed =
        wire::Envelope::seal(liar, "libp2p-peer-record", kType, payload(victim, {}));
    CHECK(PeerRecord::open(sealed).error().code == Errc::bad_signature);
    auto const honest =
        wire::Envelope::seal(liar, "libp2p-peer-record", kType, payload(liar.peer_id(), {}));
    CHECK(PeerRecord::open(honest));
    auto const voucher =
        wire::Envelope::seal(liar, "libp2p-relay-rsvp", kType, payload(liar.peer_id(), {}));
    CHECK(PeerRecord::open(voucher).error().code == Errc::bad_signature);
  }

  TEST_CASE(
      "addresses that do not parse are dropped, not the record; more than the limit are cut") {
    auto const identity = crypto::Identity::generate();
    auto const good = to_bytes(Multiaddr::tcp("10.0.0.1", 1)->bytes());
    Bytes const unknown{std::byte{0xff}, std::byte{0x7f}, std::byte{0}};
    auto opened = PeerRecord::open(wire::Envelope::seal(
        identity, "libp2p-peer-record", kType, payload(identity.peer_id(), {unknown, good, {}})));
    REQUIRE(opened);
    REQUIRE(opened->addresses.size() == 1);
    CHECK(equal(opened->addresses[0].bytes(), good));
    std::vector<Bytes> const many(PeerRecord::kMaxAddresses + 10, good);
    opened = PeerRecord::open(wire::Envelope::seal(
        identity, "libp2p-peer-record", kType, payload(identity.peer_id(), many)));
    REQUIRE(opened);
    CHECK(opened->addresses.size() == PeerRecord::kMaxAddresses);
  }

  TEST_CASE("a payload that is no record is malformed") {
    auto const identity = crypto::Identity::generate();
    for (auto const* text : {"", "\x0a", "hello"}) {
      auto const sealed =
          wire::Envelope::seal(identity, "libp2p-peer-record", kType, as_bytes(text));
      CHECK(PeerRecord::open(sealed).error().code == Errc::malformed);
    }
  }
}
