// SPDX-License-Identifier: MIT
#include "core/device/temperature.hpp"

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

TEST_SUITE("temperature") {
  TEST_CASE("thousandths become degrees, and what no sensor means is dropped") {
    CHECK(parse_celsius("45500") == doctest::Approx(45.5));
    CHECK(parse_celsius("-5000") == doctest::Approx(-5));
    for (char const* const bad :
         {"", "x", "45.5", "45500 C", "-274000", "151000", "99999999999999999999"})
      CHECK(!parse_celsius(bad));
  }

  TEST_CASE("the processor's hottest sensor counts, not the disk's") {
    waggle::test::Tree const sys;
    CHECK(!read_temperature(sys.path));
    sys.put("class/thermal/thermal_zone0/type", "acpitz\n");
    sys.put("class/thermal/thermal_zone0/temp", "99000\n");
    CHECK(read_temperature(sys.path) == doctest::Approx(99));  // better than nothing
    sys.put("class/hwmon/hwmon0/name", "coretemp\n");
    sys.put("class/hwmon/hwmon0/temp1_input", "61000\n");
    sys.put("class/hwmon/hwmon0/temp2_input", "64000\n");
    sys.put("class/hwmon/hwmon0/temp3_input", "0x\n");
    sys.put("class/hwmon/hwmon0/temp1_max", "100000\n");
    sys.put("class/hwmon/hwmon1/name", "nvme\n");
    sys.put("class/hwmon/hwmon1/temp1_input", "80000\n");
    CHECK(read_temperature(sys.path) == doctest::Approx(64));
    sys.put("class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    sys.put("class/thermal/thermal_zone1/temp", "70000\n");
    sys.put("class/thermal/cooling_device0/type", "cpu\n");
    CHECK(read_temperature(sys.path) == doctest::Approx(70));
  }

  TEST_CASE("names of processors' sensors") {
    for (char const* const name : {"coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal"})
      CHECK(names_processor(name));
    for (char const* const name : {"", "nvme", "iwlwifi_1", "acpitz", "amdgpu"})
      CHECK(!names_processor(name));
  }
}
