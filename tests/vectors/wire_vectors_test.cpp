// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include "core/crypto/multibase.hpp"
#include "core/crypto/record_key.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/msgpack.hpp"
#include "core/wire/multiaddr.hpp"
#include "core/wire/peer_record.hpp"
#include "core/wire/varint.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using test::unhex;
using wire::Msgpack;
using wire::Multiaddr;

namespace {

// The Python values of the group msgpack, built again with our own constructors.
struct Named {
  char const* name;
  Msgpack value;
};

std::vector<Named> python_values() {
  using A = Msgpack::Array;
  using M = Msgpack::Map;
  Msgpack const nil;
  auto const bin = [](std::string_view text) { return Msgpack(to_bytes(text)); };
  auto const tuple = [](A items) { return Msgpack::tuple(std::move(items)); };
  A twenty;
  for (int i = 0; i < 20; ++i) twenty.emplace_back(i);
  Bytes const small{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{0xff}};
  return {
      {"None", nil},
      {"True", true},
      {"False", false},
      {"int 0", 0},
      {"int 127", 127},
      {"int 128", 128},
      {"int 255", 255},
      {"int 256", 256},
      {"int 65535", 65535},
      {"int 65536", 65536},
      {"int 2**32", std::int64_t{1} << 32},
      {"int 2**64-1", std::numeric_limits<std::uint64_t>::max()},
      {"int -1", -1},
      {"int -32", -32},
      {"int -33", -33},
      {"int -129", -129},
      {"int -32769", -32769},
      {"int -2**63", std::numeric_limits<std::int64_t>::min()},
      {"float 0.0", 0.0},
      {"float 1.5", 1.5},
      {"float -inf", -std::numeric_limits<double>::infinity()},
      {"float inf", std::numeric_limits<double>::infinity()},
      {"float 1700000000.123456", 1700000000.123456},
      {"str \"\"", ""},
      {"str \"hello\"", "hello"},
      {"str 31*\"a\"", std::string(31, 'a')},
      {"str 32*\"a\"", std::string(32, 'a')},
      {"str 256*\"a\"", std::string(256, 'a')},
      {"str \"привет\"", "привет"},
      {"bytes empty", Bytes{}},
      {"bytes 000102ff", small},
      {"bytes 256 zero bytes", Bytes(256)},
      {"list []", A{}},
      {"list [1, 'a', b'b', None]", A{1, "a", bin("b"), nil}},
      {"nested list [[1, 2], [3, [4]]]", A{A{1, 2}, A{3, A{4}}}},
      {"list of 16 zeros", A(16, Msgpack(0))},
      {"tuple ()", tuple({})},
      {"tuple (1,)", tuple({1})},
      {"tuple (1, 'a')", tuple({1, "a"})},
      {"nested tuple ((1, 2), [3, (4,)])", tuple({tuple({1, 2}), A{3, tuple({4})}})},
      {"list with tuple [(1, 2)]", A{tuple({1, 2})}},
      {"tuple ('x', 1.0, b'y')", tuple({"x", 1.0, bin("y")})},
      {"tuple of 20 ints", tuple(twenty)},
      {"tuple holding 300 bytes", tuple({Bytes(300)})},
      {"dict {}", M{}},
      {"dict {'a': 1, 'b': [True, None]}", M{{"a", 1}, {"b", A{true, nil}}}},
      {"dict {b'k': 'v'}", M{{bin("k"), "v"}}},
      {"dict with int key {1: 2}", M{{1, 2}}},
      {"dict with tuple value {'t': (1, 2)}", M{{"t", tuple({1, 2})}}},
  };
}

// What stands between `open` and the next bracket, every time.
std::vector<std::string> marks(Bytes const& bytes, std::string_view open) {
  std::vector<std::string> found;
  auto const text = to_string(bytes);
  for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    auto const start = at + open.size();
    found.push_back(text.substr(start, text.find(']', start) - start));
  }
  return found;
}

void check_address(std::string const& text, Bytes const& bytes, std::string const& canonical) {
  CAPTURE(text);
  auto const parsed = Multiaddr::parse(text);
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().detail);
  CHECK(to_hex(parsed->bytes()) == to_hex(bytes));
  CHECK(parsed->text() == canonical);
  auto const read = Multiaddr::from_bytes(bytes);
  REQUIRE_MESSAGE(read.has_value(), read.error().detail);
  CHECK(*read == *parsed);
}

}  // namespace

TEST_SUITE("vectors: varints") {
  TEST_CASE("values go both ways and bad forms are refused") {
    auto const& group = test::vectors("libp2p").at("unsigned_varint");
    test::announce("libp2p/unsigned_varint", group.at("valid").size() + group.at("invalid").size());
    for (auto const& c : group.at("valid")) {
      auto const value = std::stoull(c.at("value").get<std::string>());
      auto const bytes = unhex(c.at("hex"));
      Bytes out;
      wire::append_varint(out, value);
      CHECK(out == bytes);
      CHECK(wire::varint_size(value) == bytes.size());
      auto const read = wire::read_varint(bytes);
      REQUIRE(read);
      CHECK(read->first == value);
      CHECK(read->second == bytes.size());
    }
    for (auto const& c : group.at("invalid")) {
      CAPTURE(c.at("why").get<std::string>());
      auto const read = wire::read_varint(unhex(c.at("hex")));
      REQUIRE(!read);
      bool const cut = c.at("why") == "ends inside the number";
      CHECK(read.error().code == (cut ? Errc::closed : Errc::malformed));
    }
  }
}

TEST_SUITE("vectors: multiaddr") {
  TEST_CASE("js-libp2p's addresses go both ways") {
    auto const& group = test::vectors("libp2p").at("multiaddr");
    test::announce("libp2p/multiaddr",
                   group.at("valid").size() + group.at("aliases").size() +
                       group.at("ip6_text").size() + group.at("invalid_text").size() +
                       group.at("invalid_bytes").size());
    for (auto const& c : group.at("valid"))
      check_address(c.at("text"), unhex(c.at("bytes")), c.at("text"));
    for (auto const* list : {"aliases", "ip6_text"})
      for (auto const& c : group.at(list))
        check_address(c.at("text"), unhex(c.at("bytes")), c.at("canonical_text"));
    for (auto const& c : group.at("invalid_text")) {
      CAPTURE(c.get<std::string>());
      auto const parsed = Multiaddr::parse(c.get<std::string>());
      REQUIRE(!parsed);
      CHECK(parsed.error().code == Errc::malformed);
    }
    for (auto const& c : group.at("invalid_bytes")) {
      CAPTURE(c.at("why").get<std::string>());
      auto const read = Multiaddr::from_bytes(unhex(c.at("bytes")));
      REQUIRE(!read);
      CHECK(read.error().code == Errc::malformed);
    }
  }

  TEST_CASE("hivemind's addresses go both ways") {
    auto const& group = test::vectors("dht").at("multiaddr");
    test::announce("dht/multiaddr", group.size());
    for (auto const& c : group) check_address(c.at("text"), unhex(c.at("bytes")), c.at("text"));
  }
}

TEST_SUITE("vectors: msgpack") {
  TEST_CASE("hivemind's values encode to its bytes and read back") {
    auto const& cases = test::vectors("dht").at("msgpack");
    test::announce("dht/msgpack", cases.size());
    auto const values = python_values();
    for (auto const& c : cases) {
      CAPTURE(c.at("value").get<std::string>());
      auto const packed = unhex(c.at("packed"));
      auto const known = std::find_if(values.begin(), values.end(), [&](Named const& named) {
        return c.at("value") == named.name;
      });
      REQUIRE(known != values.end());
      CHECK(to_hex(known->value.encode()) == to_hex(packed));
      auto const decoded = Msgpack::decode(packed);
      CHECK(decoded.has_value() == c.at("roundtrip_ok").get<bool>());
      if (!decoded) continue;
      CHECK(*decoded == known->value);
      CHECK(decoded->encode() == packed);
    }
  }

  TEST_CASE("what Python cannot dump, our type cannot hold") {
    // Integers beyond 64 bits, sets, subclasses of int and complex numbers: none is an alternative
    // of Variant.
    test::announce("dht/msgpack_rejected_on_dump",
                   test::vectors("dht").at("msgpack_rejected_on_dump").size());
    static_assert(std::variant_size_v<Msgpack::Variant> == 10);
    CHECK(Msgpack(std::numeric_limits<std::uint64_t>::max()).encode().size() == 9);
  }

  TEST_CASE("edge cases of decoding end as in Python") {
    auto const& cases = test::vectors("dht").at("msgpack_decode_edge_cases");
    test::announce("dht/msgpack_decode_edge_cases", cases.size());
    for (auto const& c : cases) {
      CAPTURE(c.at("case").get<std::string>());
      auto const decoded = Msgpack::decode(unhex(c.at("input")));
      REQUIRE(decoded.has_value() == !c.contains("raises"));
      if (!decoded) {
        CHECK(decoded.error().code == Errc::malformed);
        continue;
      }
      auto const expected = c.at("decoded").get<std::string>();
      if (expected == "1.5")
        CHECK(decoded->number() == 1.5);
      else if (expected == "1")
        CHECK(decoded->integer() == 1);
      else
        CHECK(decoded->get<Msgpack::Ext>()->data == Bytes{std::byte{1}, std::byte{2}});
    }
  }
}

TEST_SUITE("vectors: signed records") {
  TEST_CASE("a peer record seals to js-libp2p's bytes and opens") {
    auto const& group = test::vectors("libp2p").at("peer_record");
    test::announce("libp2p/peer_record", 1);
    auto const& keys = test::vectors("libp2p").at("keys");
    auto const signer = std::find_if(keys.begin(), keys.end(), [&](auto const& key) {
      return key.at("peer_id") == group.at("signer");
    });
    REQUIRE(signer != keys.end());
    auto const identity =
        crypto::Identity::from_protobuf(unhex(signer->at("private_key_protobuf")));
    REQUIRE(identity);
    wire::PeerRecord record;
    record.seq = std::stoull(group.at("seq").get<std::string>());
    for (auto const& text : group.at("addresses")) {
      auto address = Multiaddr::parse(text.get<std::string>());
      REQUIRE(address);
      record.addresses.push_back(*std::move(address));
    }
    auto const envelope = unhex(group.at("envelope"));
    CHECK(to_hex(record.seal(*identity)) == to_hex(envelope));

    auto const opened = wire::PeerRecord::open(envelope);
    REQUIRE_MESSAGE(opened.has_value(), opened.error().detail);
    CHECK(opened->id == identity->peer_id());
    CHECK(opened->seq == record.seq);
    CHECK(opened->addresses == record.addresses);

    auto const plain = wire::Envelope::open(
        envelope, group.at("domain").get<std::string>(), unhex(group.at("payload_type")));
    REQUIRE(plain);
    CHECK(plain->payload == unhex(group.at("payload")));
    CHECK(identity->sign(unhex(group.at("bytes_signed"))) == unhex(group.at("signature")));
  }

  // What belongs to the validator (how many marks there may be, stripping) is tested with core/dht;
  // here hivemind's signatures are checked over the messages that it signed.
  TEST_CASE("hivemind's record signatures verify as hivemind says") {
    auto const& group = test::vectors("dht").at("rsa_signed_records");
    auto const key = crypto::RecordKey::from_der(unhex(group.at("private_key_pkcs1_der")));
    REQUIRE(key);
    CHECK(key->openssh_public() == group.at("public_key_openssh").get<std::string>());
    CHECK(key->to_der() == unhex(group.at("private_key_pkcs1_der")));
    std::size_t valid = 0;
    std::size_t refused = 0;
    for (auto const& c : group.at("records")) {
      CAPTURE(c.at("note").get<std::string>());
      auto const message = unhex(c.at("signed_message"));
      auto const decoded = Msgpack::decode(message);
      REQUIRE(decoded);
      CHECK(decoded->encode() == message);
      CHECK(crypto::verify_record(key->openssh_public(), message, key->sign(message)));

      auto const owners = marks(unhex(c.at("subkey")), "[owner:");
      auto const signatures = marks(unhex(c.at("stored_value")), "[signature:");
      if (owners.size() != 1 || signatures.size() != 1) continue;  // the validator's business
      auto const signature = crypto::base64_decode(signatures[0]);
      REQUIRE(signature);
      auto value = to_string(unhex(c.at("stored_value")));
      auto const mark = "[signature:" + signatures[0] + "]";
      value.erase(value.find(mark), mark.size());
      auto const rebuilt = Msgpack::tuple({unhex(c.at("key")),
                                           unhex(c.at("subkey")),
                                           to_bytes(value),
                                           c.at("expiration_time").get<double>()})
                               .encode();
      auto const verified = crypto::verify_record(owners[0], rebuilt, *signature);
      if (verified) CHECK(rebuilt == message);
      CHECK(verified.has_value() == (c.at("valid") == true));
      (verified ? valid : refused) += 1;
    }
    test::announce("dht/rsa_signed_records", group.at("records").size());
    CHECK(valid >= 4);
    CHECK(refused >= 4);
  }
}
