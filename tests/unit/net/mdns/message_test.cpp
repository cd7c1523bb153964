// SPDX-License-Identifier: MIT
#include "core/net/mdns/message.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::net::mdns;

namespace {

Bytes hex(std::string_view text) {
  std::string plain;
  for (char const c : text)
    if (c != ' ') plain += c;
  return *from_hex(plain);
}

Bytes head(int questions, int answers) {
  Bytes out(12);
  out[2] = std::byte{0x84};
  out[5] = static_cast<std::byte>(questions);
  out[7] = static_cast<std::byte>(answers);
  return out;
}

// PTR record's fixed part, and the size of what follows.
void fixed(Bytes& out, int type, int size) {
  append(out, hex("00"));
  out.push_back(static_cast<std::byte>(type));
  append(out, hex("0001 00000078"));
  out.push_back(static_cast<std::byte>(size >> 8));
  out.push_back(static_cast<std::byte>(size & 255));
}

}  // namespace

TEST_SUITE("mDNS message") {
  TEST_CASE("a query has the bytes that RFC 1035 says") {
    Message message;
    message.questions.push_back({name_of("_p2p._udp.local"), 12});
    auto const bytes = message.encode();
    REQUIRE(bytes);
    CHECK(*bytes == hex("0000 0000 0001 0000 0000 0000 04 5f703270 04 5f756470 05 6c6f63616c 00 "
                        "000c 0001"));
    auto const again = Message::decode(*bytes);
    REQUIRE(again);
    CHECK(*again == message);
  }

  TEST_CASE("records of all sections come back in order, foreign ones are passed over") {
    Message message;
    message.response = true;
    message.answers.push_back({name_of("a.b"), Type::ptr, 120, name_of("c.a.b"), {}});
    message.additional.push_back({name_of("c.a.b"), Type::txt, 7, {}, {"dnsaddr=x", "", "y"}});
    auto bytes = message.encode();
    REQUIRE(bytes);
    // An A record at the end.
    (*bytes)[11] = std::byte{2};
    append(*bytes, hex("00"));
    fixed(*bytes, 1, 4);
    append(*bytes, hex("c0a80001"));
    auto const again = Message::decode(*bytes);
    REQUIRE(again);
    CHECK(again->response);
    REQUIRE(again->answers.size() == 2);
    CHECK(again->answers[0] == message.answers[0]);
    CHECK(again->answers[1] == message.additional[0]);
  }

  TEST_CASE("compressed names are followed, whatever their case is compared alike") {
    auto bytes = head(0, 1);
    append(bytes, hex("05 6c6f63616c 00"));  // "local", at 12
    fixed(bytes, 12, 4);
    append(bytes, hex("01 41 c00c"));
    auto const message = Message::decode(bytes);
    REQUIRE(message);
    CHECK(message->answers[0].target == Name{"A", "local"});
    CHECK(same(message->answers[0].target, name_of("a.LOCAL")));
    CHECK_FALSE(same(name_of("a.local"), name_of("b.local")));
    CHECK_FALSE(same(name_of("local"), name_of("a.local")));
  }

  TEST_CASE("pointers that loop, lead forwards or into the header are refused") {
    for (auto const* const name : {"c00c", "01 61 c00c", "c00e 00", "c000", "c0ff", "01 61 c00d"}) {
      auto bytes = head(1, 0);
      append(bytes, hex(name));
      append(bytes, hex("000c 0001"));
      auto const message = Message::decode(bytes);
      REQUIRE_MESSAGE(!message, name);
      CHECK(message.error().code == Errc::malformed);
    }
  }

  TEST_CASE("a chain of pointers ends: each leads in front of the one before") {
    // Record n's target is "a" and a pointer to the name of n - 1: names grow until the limit.
    auto bytes = head(0, 200);
    std::size_t previous = 0;
    for (int i = 0; i < 200; ++i) {
      append(bytes, hex("00"));
      fixed(bytes, 12, i == 0 ? 3 : 4);
      auto const here = bytes.size();
      append(bytes, hex("01 61"));
      if (i == 0) {
        bytes.push_back(std::byte{0});
      } else {
        bytes.push_back(static_cast<std::byte>(0xC0 | previous >> 8));
        bytes.push_back(static_cast<std::byte>(previous & 255));
      }
      previous = here;
    }
    auto const message = Message::decode(bytes);
    REQUIRE(!message);
    CHECK(message.error().code == Errc::too_large);
    CHECK(message.error().detail.find("at most 255") != std::string::npos);
  }

  TEST_CASE("every cut, and every byte that is another, gives a message or an error") {
    Message whole;
    whole.response = true;
    whole.questions.push_back({name_of("_p2p._udp.local"), 255});
    whole.answers.push_back({name_of("_p2p._udp.local"), Type::ptr, 1, name_of("x.local"), {}});
    whole.answers.push_back({name_of("x.local"), Type::txt, 1, {}, {"dnsaddr=/ip4/10.0.0.1"}});
    auto const bytes = *whole.encode();
    for (std::size_t n = 0; n < bytes.size(); ++n)
      CHECK_FALSE(Message::decode(ByteView(bytes).first(n)));
    for (std::size_t n = 0; n < bytes.size(); ++n)
      for (int value = 0; value < 256; value += 5) {
        auto changed = bytes;
        changed[n] = static_cast<std::byte>(value);
        auto const message = Message::decode(changed);
        if (message) CHECK(message->answers.size() <= Message::kMaxEntries);
      }
  }

  TEST_CASE("limits name both numbers") {
    auto many = head(0, 0);
    many[4] = std::byte{2};
    auto const message = Message::decode(many);
    REQUIRE(!message);
    CHECK(message.error().detail == "DNS message of 512 entries, at most 256");
    CHECK(Message::decode(Bytes(9001)).error().code == Errc::too_large);
    Message out;
    out.questions.push_back({Name{std::string(64, 'a')}, 12});
    CHECK(out.encode().error().detail == "DNS label of 64 bytes, at most 63");
    out.questions = {{Name(128, "a"), 12}};
    CHECK(out.encode().error().detail == "DNS name of 257 bytes, at most 255");
    out.questions = {{Name{""}, 12}};
    CHECK(out.encode().error().code == Errc::invalid);
    out.questions.clear();
    out.answers.push_back({name_of("a"), Type::txt, 1, {}, {std::string(256, 'x')}});
    CHECK(out.encode().error().detail == "DNS text of 256 bytes, at most 255");
  }
}
