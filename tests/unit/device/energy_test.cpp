// SPDX-License-Identifier: MIT
#include "core/device/energy.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/unit/device/tree.hpp"

using namespace waggle;
using namespace waggle::device;

namespace {

void put_zone(test::Tree const& tree, std::string const& zone, char const* name, long energy) {
  auto const folder = "class/powercap/" + zone;
  tree.put(folder + "/name", cat(name, "\n"));
  tree.put(folder + "/max_energy_range_uj", "1000000000\n");
  tree.put(folder + "/energy_uj", cat(energy, "\n"));
}

TimePoint at(int second) {
  return TimePoint{} + std::chrono::seconds(second);
}

}  // namespace

TEST_SUITE("CoreWatts") {
  TEST_CASE("without counters it is the documented estimate") {
    test::Tree const tree;
    CoreWatts watts(tree.path);
    watts.look(2.0, at(0));
    watts.look(2.0, at(1));
    CHECK(!watts.measured());
    CHECK(watts.per_busy_core() == kWattsPerBusyCore);
  }

  TEST_CASE("packages are summed, their parts are not, and the busy cores share the watts") {
    test::Tree const tree;
    put_zone(tree, "intel-rapl:0", "package-0", 1'000'000);
    put_zone(tree, "intel-rapl:1", "package-1", 1'000'000);
    put_zone(tree, "intel-rapl:0:0", "core", 1'000'000);
    put_zone(tree, "intel-rapl:2", "psys", 1'000'000);
    CoreWatts watts(tree.path);
    watts.look(4.0, at(10));
    CHECK(!watts.measured());
    put_zone(tree, "intel-rapl:0", "package-0", 31'000'000);  // 30 J in one second
    put_zone(tree, "intel-rapl:1", "package-1", 11'000'000);  // 10 J
    put_zone(tree, "intel-rapl:0:0", "core", 900'000'000);
    put_zone(tree, "intel-rapl:2", "psys", 900'000'000);
    watts.look(4.0, at(11));
    CHECK(watts.measured());
    CHECK(watts.per_busy_core() == doctest::Approx(10));
  }

  TEST_CASE("a counter that begins anew, one that goes away and a long gap do no harm") {
    test::Tree const tree;
    put_zone(tree, "intel-rapl:0", "package-0", 995'000'000);
    CoreWatts watts(tree.path);
    watts.look(1.0, at(0));
    put_zone(tree, "intel-rapl:0", "package-0", 5'000'000);  // 10 J on
    watts.look(1.0, at(1));
    CHECK(watts.per_busy_core() == doctest::Approx(10));
    tree.put("class/powercap/intel-rapl:0/energy_uj", "");
    watts.look(1.0, at(2));
    put_zone(tree, "intel-rapl:0", "package-0", 900'000'000);
    watts.look(1.0, at(3));
    CHECK(watts.per_busy_core() == doctest::Approx(10));
    put_zone(tree, "intel-rapl:0", "package-0", 990'000'000);
    watts.look(1.0, at(100'000));
    CHECK(watts.per_busy_core() == doctest::Approx(10));
    watts.look({}, at(100'001));
    CHECK(watts.per_busy_core() == doctest::Approx(10));
  }

  TEST_CASE("a machine at rest counts as one busy core") {
    test::Tree const tree;
    put_zone(tree, "intel-rapl:0", "package-0", 0);
    CoreWatts watts(tree.path);
    watts.look(0.0, at(0));
    put_zone(tree, "intel-rapl:0", "package-0", 4'000'000);
    watts.look(0.0, at(1));
    CHECK(watts.per_busy_core() == doctest::Approx(4));
  }

  TEST_CASE("kilowatt hours") {
    CHECK(kilowatt_hours(3600, 1000) == doctest::Approx(1));
    CHECK(kilowatt_hours(-5, 6) == 0);
  }

  TEST_CASE("a GPU's watts count over the time in which it works, and only then") {
    GpuEnergy gpu;
    gpu.look({}, at(0));
    gpu.look(200.0, at(10));
    CHECK(gpu.joules() == 0);
    gpu.look(100.0, at(11));
    CHECK(gpu.joules() == doctest::Approx(200));
    gpu.look({}, at(13));
    CHECK(gpu.joules() == doctest::Approx(400));
    gpu.look(150.0, at(1000));
    CHECK(gpu.joules() == doctest::Approx(400));
    // A machine that slept, a clock that went back, a reading that is none.
    gpu.look(1e9, at(100'000));
    CHECK(gpu.joules() == doctest::Approx(400 + 60 * 150));
    gpu.look(-5.0, at(100'001));
    gpu.look(50.0, at(100'002));
    gpu.look(50.0, at(100'001));
    CHECK(gpu.joules() == doctest::Approx(400 + 60 * 150));
    CHECK(kilowatt_hours(3.6e6) == doctest::Approx(1));
  }
}
