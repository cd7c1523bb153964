// SPDX-License-Identifier: MIT
#include "core/wire/envelope.hpp"

#include <doctest/doctest.h>

#include "tests/support/vectors.hpp"

using namespace waggle;
using wire::Envelope;

namespace {

Errc refusal(ByteView bytes, std::string_view domain, std::string_view type) {
  auto const opened = Envelope::open(bytes, domain, as_bytes(type));
  REQUIRE(!opened);
  return opened.error().code;
}

}  // namespace

TEST_SUITE("Envelope") {
  TEST_CASE("what is sealed opens, with keys of every type") {
    for (auto const& c : test::vectors("libp2p").at("keys")) {
      CAPTURE(c.at("name").get<std::string>());
      auto const identity =
          crypto::Identity::from_protobuf(test::unhex(c.at("private_key_protobuf")));
      REQUIRE(identity);
      auto const sealed = Envelope::seal(
          *identity, "waggle-record", as_bytes("waggle/task/1"), as_bytes("payload"));
      auto const opened = Envelope::open(sealed, "waggle-record", as_bytes("waggle/task/1"));
      REQUIRE_MESSAGE(opened.has_value(), opened.error().detail);
      CHECK(opened->signer == identity->public_key());
      CHECK(as_text(opened->payload) == "payload");
      CHECK(as_text(opened->payload_type) == "waggle/task/1");
    }
  }

  TEST_CASE("another domain, another type and every changed bit are refused") {
    auto const identity = crypto::Identity::generate();
    auto const sealed = Envelope::seal(identity, "domain", as_bytes("type"), as_bytes("payload"));
    CHECK(refusal(sealed, "Domain", "type") == Errc::bad_signature);
    CHECK(refusal(sealed, "domain", "typo") == Errc::refused);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
      auto broken = sealed;
      broken[i] ^= std::byte{1};
      CAPTURE(i);
      CHECK(!Envelope::open(broken, "domain", as_bytes("type")));
      CHECK(!Envelope::open(ByteView(sealed).first(i), "domain", as_bytes("type")));
    }
  }

  // Without lengths in what is signed, "ab" + "c" and "a" + "bc" would share a signature.
  TEST_CASE("bytes cannot move between domain, type and payload") {
    auto const identity = crypto::Identity::generate();
    auto const sealed = Envelope::seal(identity, "domain", as_bytes("ab"), as_bytes("c"));
    auto text = to_string(sealed);
    auto const at = text.find(std::string("\x12\x02") + "ab" + "\x1a\x01" + "c");
    REQUIRE(at != std::string::npos);
    text.replace(at, 7, std::string("\x12\x01") + "a" + "\x1a\x02" + "bc");
    CHECK(refusal(as_bytes(text), "domain", "a") == Errc::bad_signature);
  }

  TEST_CASE("rubbish is malformed and too much of it is not even parsed") {
    CHECK(refusal({}, "domain", "") == Errc::malformed);
    CHECK(refusal(as_bytes("\x0a\xff"), "domain", "") == Errc::malformed);
    CHECK(refusal(Bytes(Envelope::kMaxBytes + 1), "domain", "") == Errc::malformed);
  }
}
