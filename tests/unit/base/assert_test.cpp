// SPDX-License-Identifier: MIT
#include "core/base/assert.hpp"

#include <doctest/doctest.h>

#include "tests/unit/base/death.hpp"

using namespace waggle;

TEST_SUITE("WAGGLE_ASSERT") {
  TEST_CASE("a true condition costs nothing and does not join its values") {
    int joined = 0;
    auto const count = [&] { return ++joined; };
    WAGGLE_ASSERT(1 + 1 == 2, "counted ", count());
    CHECK(joined == 0);
  }

  TEST_CASE("a false one names file, condition and values, and aborts") {
    auto const said = test::death_of([] { WAGGLE_ASSERT(1 + 1 == 3, "sum is ", 2, ", not ", 3); });
    CHECK(said.find("assert_test.cpp:") != std::string::npos);
    CHECK(said.find("1 + 1 == 3") != std::string::npos);
    CHECK(said.find("sum is 2, not 3") != std::string::npos);
  }

  TEST_CASE("it is one statement, so that it may stand under an if without braces") {
    bool other = false;
    if (other)
      WAGGLE_ASSERT(false);
    else
      other = true;
    CHECK(other);
  }
}
