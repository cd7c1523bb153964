// SPDX-License-Identifier: MIT
#include "core/device/machine.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::device;

TEST_SUITE("machine") {
  TEST_CASE("meminfo is read in bytes") {
    auto const memory =
        parse_meminfo("MemTotal:       24689900 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n");
    REQUIRE(memory);
    CHECK(memory->total == 24689900ULL * 1024);
    CHECK(memory->available == 20000000ULL * 1024);
  }

  TEST_CASE("a meminfo without the fields, or with no numbers, is an error") {
    for (char const* const text : {"",
                                   "MemTotal:",
                                   "MemTotal: x kB\nMemAvailable: 1 kB",
                                   "MemTotal: 1 kB",
                                   "MemTotal: 99999999999999999999 kB\nMemAvailable: 1 kB"})
      CHECK(!parse_meminfo(text));
  }

  TEST_CASE(
      "this machine has memory, cores and a disk, also below a path that does not exist yet") {
    auto const now = memory();
    REQUIRE(now);
    CHECK(now->total >= now->available);
    CHECK(cores() >= 1);
    CHECK(disk_available("/nowhere/at/all").value_or(0) > 0);
  }
}
