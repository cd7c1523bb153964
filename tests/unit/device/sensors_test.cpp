// SPDX-License-Identifier: MIT
#include "core/device/sensors.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "tests/unit/device/fake_card.hpp"
#include "tests/unit/device/tree.hpp"

using namespace waggle;
using namespace waggle::device;

namespace {

// Polls at a time that the test moves by itself.
template <class F>
bool soon(Sensors& sensors, TimePoint now, F test) {
  for (int i = 0; i < 5000; ++i) {
    if (test(sensors.poll(now, 1000))) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_SUITE("sensors") {
  TEST_CASE("an empty machine tells nothing, and a laptop what is in its files") {
    test::Tree const tree;
    Sensors sensors({tree.path / "sys", tree.path / "proc"});
    TimePoint now{std::chrono::hours(1)};
    auto const first = sensors.poll(now, 1000);
    CHECK(!first.power.has_battery);
    CHECK(!first.celsius);
    tree.put("sys/class/power_supply/BAT0/type", "Battery\n");
    tree.put("sys/class/power_supply/BAT0/status", "Discharging\n");
    tree.put("sys/class/power_supply/BAT0/capacity", "33\n");
    tree.put("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    tree.put("sys/class/thermal/thermal_zone0/temp", "71000\n");
    tree.put("proc/stat", "cpu  100 0 0 100\n");
    tree.put("proc/9/stat",
             "9 (blender) S 1 10 10 0 -1 4194560 9 0 0 0 120 30 5 6 20 0 1 0 777 1000\n");
    sensors.wish({.programs = {"blender"}, .cpu_others = true, .idle = true});
    now += std::chrono::seconds(60);
    CHECK(soon(sensors, now, [](Readings const& r) {
      return r.power.on_battery && r.power.percent == 33 && r.celsius == 71.0 &&
             r.program == "blender";
    }));
    // Two looks make a load.
    tree.put("proc/stat", "cpu  160 0 0 140\n");
    now += std::chrono::seconds(60);
    CHECK(soon(sensors, now, [](Readings const& r) { return r.cpu_others == 0.6; }));
    // What nobody wishes for is not looked for.
    sensors.wish({});
    now += std::chrono::seconds(60);
    CHECK(soon(sensors, now, [](Readings const& r) { return !r.program && !r.cpu_others; }));
  }

  TEST_CASE("a power cap is held while it is wished, on battery it is put back, and at the end") {
    test::Tree const tree;
    test::Card const card;
    tree.put("dev/nvidiactl", "");
    TimePoint now{std::chrono::hours(1)};
    {
      Sensors sensors({tree.path / "sys", tree.path / "proc", WAGGLE_FAKE_NVML});
      sensors.wish({.gpu_power_cap = 150, .gpu = "0000:65:00.0"});
      CHECK(soon(sensors, now, [](Readings const& r) { return r.gpus.size() == 2; }));
      CHECK(card.limit() == 150'000);
      tree.put("sys/class/power_supply/BAT0/type", "Battery\n");
      tree.put("sys/class/power_supply/BAT0/status", "Discharging\n");
      now += std::chrono::seconds(60);
      CHECK(soon(sensors, now, [](Readings const& r) { return r.power.on_battery; }));
      sensors.wish({});
      now += std::chrono::seconds(60);
      CHECK(soon(sensors, now, [&](Readings const&) { return card.limit() == 300'000; }));
      // Then the card is left to sleep.
      now += std::chrono::seconds(60);
      CHECK(soon(sensors, now, [](Readings const& r) { return r.gpus.empty(); }));
      sensors.wish({.gpu_power_cap = 10, .gpu = "0000:65:00.0"});
      now += std::chrono::seconds(60);
      CHECK(soon(sensors, now, [](Readings const& r) {
        return r.gpu_power_trouble.find("100 to 350 W") != std::string::npos;
      }));
      sensors.wish({.gpu_power_cap = 200, .gpu = "0000:65:00.0"});
      now += std::chrono::seconds(60);
      CHECK(soon(sensors, now, [](Readings const& r) { return r.gpu_power_trouble.empty(); }));
      CHECK(soon(sensors, now, [&](Readings const&) { return card.limit() == 200'000; }));
    }
    CHECK(card.limit() == 300'000);
  }

  TEST_CASE("a limit that a killed process left is put back on battery, too, with no cap wished") {
    test::Tree const tree;
    test::Card const card("150000 100000 350000 0 0");
    tree.put("dev/nvidiactl", "");
    tree.put("sys/class/power_supply/BAT0/type", "Battery\n");
    tree.put("sys/class/power_supply/BAT0/status", "Discharging\n");
    tree.put("run/waggle-gpu-power-0000:65:00.0", "150000 300000\n");
    Sensors sensors({tree.path / "sys", tree.path / "proc", WAGGLE_FAKE_NVML});
    sensors.wish({});
    TimePoint const now{std::chrono::hours(1)};
    CHECK(soon(sensors, now, [&](Readings const& r) {
      return r.power.on_battery && card.limit() == 300'000;
    }));
    CHECK(std::filesystem::is_empty(tree.path / "run"));
    // And no more is asked of a card that sleeps.
    CHECK(soon(sensors, now, [](Readings const& r) { return r.gpus.empty(); }));
  }

  TEST_CASE("a card is left to sleep on battery from the first look on") {
    test::Tree const tree;
    tree.put("dev/nvidiactl", "");
    tree.put("sys/class/power_supply/BAT0/type", "Battery\n");
    tree.put("sys/class/power_supply/BAT0/status", "Discharging\n");
    auto const asked = tree.path / "asked";
    ::setenv("WAGGLE_FAKE_NVML_ASKED", asked.c_str(), 1);
    Sensors sensors({tree.path / "sys", tree.path / "proc", WAGGLE_FAKE_NVML});
    sensors.wish({});
    TimePoint now{std::chrono::hours(1)};
    CHECK(soon(sensors, now, [](Readings const& r) { return r.power.on_battery; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(!std::filesystem::exists(asked));
    tree.put("sys/class/power_supply/BAT0/status", "Charging\n");
    now += seconds(60);
    CHECK(soon(sensors, now, [&](Readings const&) { return std::filesystem::exists(asked); }));
    ::unsetenv("WAGGLE_FAKE_NVML_ASKED");
  }

  TEST_CASE("a driver is asked only once the kernel knows of a card") {
    test::Tree const tree;
    Sensors sensors({tree.path / "sys", tree.path / "proc", WAGGLE_FAKE_NVML});
    sensors.wish({});
    TimePoint now{std::chrono::hours(1)};
    for (int i = 0; i < 20; ++i) {
      CHECK(sensors.poll(now, 1000).gpus.empty());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      now += std::chrono::seconds(10);
    }
    tree.put("dev/nvidia0", "");
    now += std::chrono::seconds(10);
    CHECK(soon(sensors, now, [](Readings const& r) { return r.gpus.size() == 2; }));
  }

  TEST_CASE("in calm the files are read each ten seconds, and afterwards each four again") {
    test::Tree const tree;
    auto const heat = [&tree](char const* celsius) {
      tree.put("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
      tree.put("sys/class/thermal/thermal_zone0/temp", celsius);
    };
    Sensors sensors({tree.path / "sys", tree.path / "proc", "libno-such-thing.so.1"});
    TimePoint const start{std::chrono::hours(1)};
    heat("40000\n");
    CHECK(soon(sensors, start, [](Readings const& r) { return r.celsius == 40.0; }));
    sensors.calm(true);
    heat("50000\n");
    for (int second = 1; second < 10; ++second) {
      CHECK(sensors.poll(start + seconds(second), 1000).celsius == 40.0);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    CHECK(soon(sensors, start + seconds(10), [](Readings const& r) { return r.celsius == 50.0; }));
    sensors.calm(false);
    heat("60000\n");
    CHECK(soon(sensors, start + seconds(14), [](Readings const& r) { return r.celsius == 60.0; }));
  }

  TEST_CASE("an AMD card's power is not limited, and that is said") {
    test::Tree const tree;
    tree.put("sys/class/drm/card0/device/vendor", "0x1002\n");
    tree.put("sys/class/drm/card0/device/product_name", "Radeon Fake\n");
    tree.put("sys/class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:03:00.0\n");
    for (auto const* const address : {"", "0000:03:00.0"}) {
      CAPTURE(address);
      Sensors sensors({tree.path / "sys", tree.path / "proc", "libno-such-thing.so.1"});
      sensors.wish({.gpu_power_cap = 150, .gpu = address});
      TimePoint const now{std::chrono::hours(1)};
      CHECK(soon(sensors, now, [](Readings const& r) {
        return r.gpu_power_trouble ==
               "gpu_power_cap of 150 W is not held: only NVIDIA's cards are limited, and Radeon "
               "Fake is AMD's; set gpu_power_cap to 0";
      }));
    }
  }

  TEST_CASE("the machine that runs this test is read without a stop") {
    Sensors sensors({});
    sensors.wish({.programs = {"waggle"}, .cpu_others = true, .idle = true});
    TimePoint const now{std::chrono::hours(1)};
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) (void)sensors.poll(now, 1000);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  }
}
