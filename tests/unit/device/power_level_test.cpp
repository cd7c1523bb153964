// SPDX-License-Identifier: MIT
#include "core/device/power_level.hpp"

#include <doctest/doctest.h>

using namespace waggle::device;

TEST_SUITE("power level") {
  TEST_CASE("names read back, and no others") {
    for (auto const level : {PowerLevel::light, PowerLevel::medium, PowerLevel::full})
      CHECK(power_level(name(level)) == level);
    CHECK(!power_level("Full"));
    CHECK(!power_level(""));
  }

  TEST_CASE("takes a share of the cores, never none, or what a person set") {
    CHECK(effort(PowerLevel::light, 16, 0) == Effort{4, 0.5, 0.5});
    CHECK(effort(PowerLevel::medium, 16, 0) == Effort{8, 1});
    CHECK(effort(PowerLevel::full, 16, 0) == Effort{16, 1});
    CHECK(effort(PowerLevel::light, 1, 0) == Effort{1, 0.5, 0.5});
    CHECK(effort(PowerLevel::full, 16, 6) == Effort{6, 1});
    CHECK(effort(PowerLevel::medium, 16, 6) == Effort{6, 1});
    CHECK(effort(PowerLevel::light, 16, 6) == Effort{3, 0.5, 0.5});
    CHECK(effort(PowerLevel::light, 16, 1) == Effort{1, 0.5, 0.5});
  }

  TEST_CASE("more power is never less work") {
    for (unsigned cores = 1; cores <= 256; ++cores)
      for (unsigned const wanted : {0U, 1U, 3U, 256U}) {
        double last = 0;
        for (auto const level : {PowerLevel::light, PowerLevel::medium, PowerLevel::full}) {
          auto const one = effort(level, cores, wanted);
          CHECK(one.threads >= 1);
          CHECK(one.threads * one.duty >= last);
          last = one.threads * one.duty;
        }
      }
  }
}
