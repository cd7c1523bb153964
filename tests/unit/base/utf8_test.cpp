// SPDX-License-Identifier: MIT
#include "core/base/utf8.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("utf8") {
  TEST_CASE("a text is cut between two characters, at the last place that fits") {
    std::string_view const text = "aé蜂🐝";  // 1, 2, 3 and 4 bytes
    CHECK(utf8_prefix(text, 0).empty());
    CHECK(utf8_prefix(text, 1) == "a");
    CHECK(utf8_prefix(text, 2) == "a");
    CHECK(utf8_prefix(text, 3) == "aé");
    CHECK(utf8_prefix(text, 5) == "aé");
    CHECK(utf8_prefix(text, 6) == "aé蜂");
    CHECK(utf8_prefix(text, 9) == "aé蜂");
    CHECK(utf8_prefix(text, 10) == text);
    CHECK(utf8_prefix(text, 1000) == text);
    CHECK(utf8_prefix("", 3).empty());
  }

  TEST_CASE("the next character begins after all bytes of this one") {
    std::string_view const text = "aé蜂🐝";
    CHECK(utf8_next(text, 0) == 1);
    CHECK(utf8_next(text, 1) == 3);
    CHECK(utf8_next(text, 3) == 6);
    CHECK(utf8_next(text, 6) == 10);
    CHECK(utf8_next(text, 10) == 10);
    CHECK(utf8_next(text, 11) == 10);
    CHECK(utf8_next("", 0) == 0);
  }

  TEST_CASE("bytes that are no UTF-8 stay within the bound") {
    std::string const junk(9, '\x80');
    CHECK(utf8_prefix(junk, 5).empty());
    CHECK(utf8_prefix("\xF0", 1) == "\xF0");
    CHECK(utf8_next(junk, 0) == 9);
  }
}
