// SPDX-License-Identifier: MIT
#include "core/wire/utf8.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

// Straight from the definition: the code point as UTF-8, without any check.
std::string encode(unsigned point) {
  auto const byte = [](unsigned value) { return static_cast<char>(value); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xc0 | point >> 6), byte(0x80 | (point & 0x3f))};
  if (point < 0x10000)
    return {
        byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 0x3f)), byte(0x80 | (point & 0x3f))};
  return {byte(0xf0 | point >> 18),
          byte(0x80 | (point >> 12 & 0x3f)),
          byte(0x80 | (point >> 6 & 0x3f)),
          byte(0x80 | (point & 0x3f))};
}

}  // namespace

TEST_SUITE("UTF-8") {
  TEST_CASE("exactly Unicode's scalar values are well-formed") {
    std::size_t wrong = 0;
    for (unsigned point = 0; point < 0x120000; ++point) {
      bool const scalar = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
      if (wire::is_utf8(encode(point)) != scalar) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("overlong forms, cut sequences and stray bytes are not") {
    for (auto const* text : {"\xc0\x80",
                             "\xc1\xbf",
                             "\xe0\x80\x80",
                             "\xe0\x9f\xbf",
                             "\xf0\x80\x80\x80",
                             "\xf0\x8f\xbf\xbf",
                             "\x80",
                             "\xbf",
                             "\xc3",
                             "\xe2\x82",
                             "\xf0\x9f\x90",
                             "\xc3\xc3",
                             "\xe2\x28\xa1",
                             "\xe2\x82\x28",
                             "\xf5\x80\x80\x80",
                             "\xff",
                             "a\xfe"})
      CHECK(!wire::is_utf8(text));
    CHECK(wire::is_utf8(""));
    CHECK(wire::is_utf8(std::string_view("\0", 1)));
    CHECK(wire::is_utf8("пчела 蜂 🐝"));
  }
}
