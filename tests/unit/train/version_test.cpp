// SPDX-License-Identifier: MIT
#include "core/train/version.hpp"

#include <algorithm>

#include <doctest/doctest.h>

TEST_CASE("torch tells its version as numbers with points") {
  auto const version = waggle::train::torch_version();
  auto const number = version.substr(0, version.find(' '));
  CHECK(std::ranges::count(number, '.') >= 2);
  CHECK((number.front() >= '1' && number.front() <= '9'));
}
