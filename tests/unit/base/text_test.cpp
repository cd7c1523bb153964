// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"

#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("cat") {
  TEST_CASE("joins parts of every kind") {
    std::string const text = "b";
    std::string_view const view = "c";
    CHECK(cat("a", text, view, 'd', 1, true, false, -2, 3u) == "abcd1truefalse-23");
    CHECK(cat().empty());
    CHECK(cat("").empty());
  }

  TEST_CASE("integers of every width are numbers, never characters") {
    CHECK(cat(std::uint8_t{65}) == "65");
    CHECK(cat(std::int8_t{-65}) == "-65");
    CHECK(cat(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(cat(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    enum class Level : std::uint8_t { high = 7 };
    CHECK(cat(Level::high) == "7");
  }

  TEST_CASE("floats are as short as reads back equal, in every locale") {
    CHECK(cat(0.1) == "0.1");
    CHECK(cat(1.5f) == "1.5");
    CHECK(cat(1e300) == "1e+300");
    CHECK(cat(std::numeric_limits<double>::infinity()) == "inf");
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
      double const value =
          std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100);
      CHECK(std::strtod(cat(value).c_str(), nullptr) == value);
    }
    std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed, it writes 0,1
    CHECK(cat(0.1) == "0.1");
    std::setlocale(LC_ALL, "C");
  }
}
