// SPDX-License-Identifier: MIT
#include "core/base/bytes.hpp"

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("bytes") {
  TEST_CASE("text and bytes are views of the same memory") {
    std::string const text = "hum\0bzz";
    auto const view = as_bytes(text);
    CHECK(static_cast<void const*>(view.data()) == text.data());
    CHECK(as_text(view) == text);
    CHECK(to_string(to_bytes(text)) == text);
    CHECK(as_bytes("").empty());
  }

  TEST_CASE("equal and less compare as unsigned bytes, a prefix first") {
    auto const a = *from_hex("00ff");
    auto const b = *from_hex("0100");
    CHECK(equal(a, a));
    CHECK(!equal(a, b));
    CHECK(!equal(a, ByteView(a).first(1)));
    CHECK(equal({}, {}));
    CHECK(less(a, b));
    CHECK(!less(b, a));
    CHECK(!less(a, a));
    CHECK(less({}, a));
    CHECK(less(*from_hex("7f"), *from_hex("80")));
    CHECK(less(ByteView(a).first(1), a));
  }

  TEST_CASE("hex is lower case and reads either case") {
    Bytes all(256);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
    auto const hex = to_hex(all);
    CHECK(hex.size() == 512);
    CHECK(hex.starts_with("000102"));
    CHECK(hex.ends_with("fdfeff"));
    CHECK(*from_hex(hex) == all);
    CHECK(*from_hex("AbCd") == *from_hex("abcd"));
    CHECK(from_hex("")->empty());
    for (auto const* bad : {"a", "abc", "0g", "g0", " a", "0x"})
      CHECK(from_hex(bad).error().code == Errc::malformed);
  }

  TEST_CASE("numbers go both ways in both orders and touch only their own bytes") {
    Bytes buffer(10, std::byte{0xee});
    store_be<std::uint32_t>(MutableBytes(buffer).subspan(1), 0x01020304);
    CHECK(to_hex(buffer) == "ee01020304eeeeeeeeee");
    CHECK(load_be<std::uint32_t>(ByteView(buffer).subspan(1)) == 0x01020304);
    CHECK(load_be<std::uint16_t>(ByteView(buffer).subspan(3)) == 0x0304);
    store_be<std::uint64_t>(buffer, 0xfffefdfcfbfaf9f8);
    CHECK(load_be<std::uint64_t>(buffer) == 0xfffefdfcfbfaf9f8);
    store_be<std::uint8_t>(buffer, 0x80);
    CHECK(load_be<std::uint8_t>(buffer) == 0x80);
    store_le<std::uint16_t>(buffer, 0x1234);
    CHECK(to_hex(ByteView(buffer).first(2)) == "3412");
    store_le(MutableBytes(buffer).subspan(2), 1.5f);
    CHECK(load_le<float>(ByteView(buffer).subspan(2)) == 1.5f);
    CHECK(to_hex(ByteView(buffer).subspan(2, 4)) == "0000c03f");
  }

  TEST_CASE("append puts behind what is there") {
    auto out = *from_hex("01");
    append(out, *from_hex("0203"));
    append(out, {});
    CHECK(to_hex(out) == "010203");
  }
}
