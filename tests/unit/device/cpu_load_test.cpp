// SPDX-License-Identifier: MIT
#include "core/device/cpu_load.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace waggle::device;

TEST_SUITE("cpu load") {
  TEST_CASE("the first line of /proc/stat is read, of old kernels too") {
    CHECK(parse_cpu_times("cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1\n") ==
          CpuTimes{10 + 20 + 30 + 6 + 7, 10 + 20 + 30 + 400 + 50 + 6 + 7 + 8});
    CHECK(parse_cpu_times("cpu  1 2 3 4") == CpuTimes{6, 10});
    for (char const* const bad : {"",
                                  "cpu",
                                  "cpu0 1 2 3 4",
                                  "cpu  1 2 3",
                                  "cpu  1 x 3 4",
                                  "cpu  1 2 3 99999999999999999999999",
                                  "intr 1 2 3 4"})
      CHECK(!parse_cpu_times(bad));
  }

  TEST_CASE("what others use is all less what every Waggle uses") {
    LoadMeter meter;
    std::vector<Process> processes{
        {1, "waggle", 100, 5}, {2, "waggle-trainer", 50, 6}, {3, "blender", 900, 7}};
    CHECK(!meter.look({1000, 10'000}, processes));
    processes[0].ticks += 10;
    processes[1].ticks += 40;
    processes[2].ticks += 30;
    auto const load = meter.look({1080, 10'100}, processes);
    REQUIRE(load);
    CHECK(load->all == doctest::Approx(0.8));
    CHECK(load->others == doctest::Approx(0.3));
  }

  TEST_CASE("a trainer that was started anew under the same pid counts from nothing") {
    LoadMeter meter;
    CHECK(!meter.look({0, 0}, std::vector<Process>{{2, "waggle-trainer", 5000, 6}}));
    auto const load = meter.look({50, 100}, std::vector<Process>{{2, "waggle-trainer", 20, 99}});
    REQUIRE(load);
    CHECK(load->others == doctest::Approx(0.3));
  }

  TEST_CASE("counters that stand still or run backwards say nothing") {
    LoadMeter meter;
    CHECK(!meter.look({10, 100}, {}));
    CHECK(!meter.look({10, 100}, {}));
    CHECK(!meter.look({5, 200}, {}));
    CHECK(!meter.look({6, 50}, {}));
    CHECK(meter.look({7, 60}, {}));
  }

  TEST_CASE("is always a share") {
    std::mt19937_64 chance(3);
    LoadMeter meter;
    for (int i = 0; i < 5000; ++i) {
      std::vector<Process> const ours{{1, "waggle", chance() >> (chance() % 64), chance() % 2}};
      auto const load =
          meter.look({chance() >> (chance() % 64), chance() >> (chance() % 64)}, ours);
      if (!load) continue;
      CHECK((load->all >= 0 && load->all <= 1));
      CHECK((load->others >= 0 && load->others <= load->all));
    }
  }
}
