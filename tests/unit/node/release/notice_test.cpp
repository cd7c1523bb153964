// SPDX-License-Identifier: MIT
#include "core/node/release/notice.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

crypto::Identity key(int n) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(n);
  return crypto::Identity::from_seed(seed);
}

ReleaseVersion version(char const* text) {
  auto const parsed = ReleaseVersion::parse(text);
  REQUIRE_MESSAGE(parsed, text);
  return *parsed;
}

Bytes sealed(wire::Msgpack const& payload, std::string_view domain = "waggle-release") {
  return wire::Envelope::seal(key(1), domain, as_bytes("waggle/release/1"), payload.encode());
}

wire::Msgpack fields(char const* version_text, char const* text) {
  wire::Msgpack::Array all;
  all.emplace_back(version_text);
  all.emplace_back(text);
  return all;
}

}  // namespace

TEST_SUITE("release notice") {
  TEST_CASE("versions are compared by their numbers") {
    CHECK(version("1.10.2") > version("1.9.9"));
    CHECK(version("1.9") < version("1.10"));
    CHECK(version("1.2") == version("1.2.0.0"));
    CHECK(version("0.1.0.1") > version("0.1.0"));
    CHECK(version("2") > version("1.65535.65535.65535"));
    CHECK(version("01.2") == version("1.2"));
    CHECK(version("1.10.2").number() > version("1.9.9").number());
    for (auto const* const wrong : {"",
                                    ".",
                                    "1.",
                                    ".1",
                                    "1..2",
                                    "1.2.3.4.5",
                                    "65536",
                                    "-1",
                                    "+1",
                                    "1.2-rc1",
                                    "v1",
                                    " 1",
                                    "1 ",
                                    "1.2.3.4444444444444444444444"}) {
      auto const parsed = ReleaseVersion::parse(wrong);
      REQUIRE_MESSAGE(!parsed, wrong);
      CHECK(parsed.error().code == Errc::invalid);
      CHECK(parsed.error().detail.size() < 200);
    }
  }

  TEST_CASE("what is signed opens with its key alone, and in no other form") {
    ReleaseNotice const notice{"0.2.0", "Rounds are faster."};
    auto const envelope = notice.seal(key(1));
    REQUIRE(envelope);
    auto const opened = ReleaseNotice::open(*envelope, key(1).peer_id());
    REQUIRE(opened);
    CHECK(opened->version == "0.2.0");
    CHECK(opened->text == "Rounds are faster.");
    CHECK(ReleaseNotice::open(*envelope, key(2).peer_id()).error().code == Errc::refused);
    for (std::size_t i = 0; i < envelope->size(); ++i) {
      auto changed = *envelope;
      changed[i] ^= std::byte{1};
      CHECK_FALSE(ReleaseNotice::open(changed, key(1).peer_id()));
    }
    // A task record's domain signs no notices.
    auto const foreign = sealed(fields("0.2.0", "x"), "waggle-record");
    CHECK_FALSE(ReleaseNotice::open(foreign, key(1).peer_id()));
    CHECK(ReleaseNotice::open(Bytes(3000), key(1).peer_id()).error().code == Errc::too_large);
  }

  TEST_CASE("texts are one line of bounded words, also where they were signed") {
    auto const why = [](ReleaseNotice const& notice) {
      auto const good = notice.check();
      CHECK(notice.seal(key(1)).has_value() == good.has_value());
      return good ? std::string() : good.error().detail;
    };
    CHECK(why({"0.2", std::string(500, 'x')}).empty());
    CHECK(why({"0.2", "新版本"}).empty());
    CHECK(why({"0.2", std::string(501, 'x')}) == "the text has 501 bytes, at most 500");
    CHECK(why({"0.2", ""}) == "the text must be one line of UTF-8");
    CHECK(why({"0.2", "two\nlines"}) == "the text must be one line of UTF-8");
    CHECK(why({"0.2", "\x1b[31m"}) == "the text must be one line of UTF-8");
    CHECK(why({"0.2", "\xff"}) == "the text must be one line of UTF-8");
    CHECK(why({"0.2", "see HTTPS://x"}) == "the text must name no address of the web");
    CHECK(why({"0.2", "see WWW.x"}) == "the text must name no address of the web");
    CHECK_FALSE(why({"0.2rc", "x"}).empty());
    for (auto const& payload : {fields("0.2", "see https://x"),
                                fields("x", "x"),
                                wire::Msgpack(1),
                                wire::Msgpack(wire::Msgpack::Array{})}) {
      auto const opened = ReleaseNotice::open(sealed(payload), key(1).peer_id());
      REQUIRE(!opened);
      CHECK(opened.error().code == Errc::malformed);
    }
  }

  TEST_CASE("the DHT takes a notice for genuine under its own key only, by its version") {
    ReleaseRule const rule;
    auto const place = dht::Id::of_text(ReleaseNotice::key_text(key(1).peer_id()));
    auto const other = dht::Id::of_text(ReleaseNotice::key_text(key(2).peer_id()));
    auto const value = [](char const* text) {
      return wrap_notice(*ReleaseNotice{text, "x"}.seal(key(1)));
    };
    auto const old = rule.version(place, value("0.9"));
    auto const fresh = rule.version(place, value("0.10"));
    REQUIRE(old);
    REQUIRE(fresh);
    CHECK(*fresh > *old);
    CHECK_FALSE(rule.version(other, value("0.9")));
    auto forged = value("0.11");
    forged.back() ^= std::byte{1};
    CHECK_FALSE(rule.version(place, forged));
    CHECK_FALSE(rule.version(place, wire::Msgpack("waggle/release/1").encode()));
    CHECK_FALSE(rule.version(place, Bytes(1 << 20)));
    CHECK(unwrap_notice(value("1")) == ReleaseNotice{"1", "x"}.seal(key(1)).value_or({}));
    CHECK_FALSE(unwrap_notice(wire::Msgpack(1).encode()));
  }

  TEST_CASE("a release key is a PeerID or hex, of an Ed25519 key") {
    auto const id = key(1).peer_id();
    auto const by_name = parse_release_key(crypto::to_text(id));
    auto const by_hex = parse_release_key(to_hex(key(1).public_key().data()));
    REQUIRE(by_name);
    REQUIRE(by_hex);
    CHECK(*by_name == id);
    CHECK(*by_hex == id);
    for (auto const* const wrong :
         {"", "x", "00", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"})
      CHECK_FALSE(parse_release_key(wrong));
  }
}
