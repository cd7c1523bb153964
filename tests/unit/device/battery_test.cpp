// SPDX-License-Identifier: MIT
#include "core/device/battery.hpp"

#include <random>

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;
using waggle::test::Tree;

namespace {

Supply battery(std::string status, std::string capacity = "62") {
  return {.type = "Battery", .status = std::move(status), .capacity = std::move(capacity)};
}

Supply mains(std::string online) {
  return {.type = "Mains", .online = std::move(online)};
}

Power of(std::vector<Supply> supplies) {
  return power_of(supplies);
}

}  // namespace

TEST_SUITE("battery") {
  TEST_CASE("a machine without one is never on battery") {
    CHECK(of({}) == Power{});
    CHECK(of({mains("1")}) == Power{});
    CHECK(of({mains("0")}) == Power{});
  }

  TEST_CASE("a laptop is on battery when nothing from outside is online") {
    CHECK(of({battery("Discharging"), mains("0")}) == Power{true, true, 62});
    CHECK(of({battery("Full", "100"), mains("1")}) == Power{true, false, 100});
    // A weak supply while it draws on both.
    CHECK(!of({battery("Discharging"), mains("1")}).on_battery);
    // Kernels that mark the supply offline although it charges.
    CHECK(!of({battery("Charging"), mains("0")}).on_battery);
  }

  TEST_CASE("any of several supplies counts, over USB too") {
    Supply usb{.type = "USB_C", .online = "1"};
    CHECK(!of({battery("Discharging"), mains("0"), usb}).on_battery);
    usb.online = "0";
    CHECK(of({battery("Discharging"), mains("0"), usb}).on_battery);
    CHECK(of({battery("Discharging", "20"), battery("Unknown", "80"), mains("0")}).percent == 50);
  }

  TEST_CASE("without a listed supply the battery's own word counts") {
    CHECK(of({battery("Discharging")}).on_battery);
    CHECK(!of({battery("Full")}).on_battery);
    CHECK(!of({battery("Unknown")}).on_battery);
    CHECK(of({{.type = "UPS", .status = "Discharging"}}).on_battery);
  }

  TEST_CASE("a mouse's battery and an empty bay are not the machine's") {
    Supply mouse = battery("Discharging");
    mouse.scope = "Device";
    CHECK(of({mouse}) == Power{});
    Supply bay = battery("Discharging");
    bay.present = "0";
    CHECK(of({bay, mains("0")}) == Power{});
    // A charging mouse does not feed the laptop.
    Supply charging = battery("Charging");
    charging.scope = "Device";
    CHECK(of({charging, battery("Discharging"), mains("0")}).on_battery);
  }

  TEST_CASE("nonsense in the files is not believed, and never a crash") {
    CHECK(!of({battery("Full", "250")}).percent);
    CHECK(!of({battery("Full", "-1")}).percent);
    CHECK(!of({battery("Full", "x")}).percent);
    CHECK(of({battery("Discharging"), mains("99999999999999999999")}).on_battery);
    std::mt19937 chance(1);
    char const* const words[] = {"",
                                 "Battery",
                                 "Mains",
                                 "USB",
                                 "UPS",
                                 "Device",
                                 "1",
                                 "0",
                                 "-7",
                                 "Discharging",
                                 "Charging",
                                 "\xff\xfe",
                                 "100",
                                 "50 %"};
    auto const word = [&] { return std::string(words[chance() % std::size(words)]); };
    for (int i = 0; i < 20'000; ++i) {
      std::vector<Supply> supplies(chance() % 4);
      for (auto& s : supplies) s = {word(), word(), word(), word(), word(), word()};
      auto const power = power_of(supplies);
      if (power.on_battery) CHECK(power.has_battery);
      if (power.percent) CHECK((*power.percent >= 0 && *power.percent <= 100));
    }
  }

  TEST_CASE("is read from a tree like the kernel's") {
    Tree const sys;
    CHECK(read_power(sys.path) == Power{});
    CHECK(read_power(sys.path / "nowhere") == Power{});
    sys.put("class/power_supply/BAT0/type", "Battery\n");
    sys.put("class/power_supply/BAT0/status", "Discharging\n");
    sys.put("class/power_supply/BAT0/capacity", "41\n");
    sys.put("class/power_supply/BAT0/present", "1\n");
    sys.put("class/power_supply/AC/type", "Mains\n");
    sys.put("class/power_supply/AC/online", "0\n");
    sys.put("class/power_supply/hidpp_battery_0/type", "Battery\n");
    sys.put("class/power_supply/hidpp_battery_0/scope", "Device\n");
    sys.put("class/power_supply/hidpp_battery_0/capacity", "5\n");
    CHECK(read_power(sys.path) == Power{true, true, 41});
    sys.put("class/power_supply/AC/online", "1\n");
    CHECK(read_power(sys.path) == Power{true, false, 41});
    // A folder where a file should be.
    std::filesystem::remove(sys.path / "class/power_supply/AC/online");
    std::filesystem::create_directory(sys.path / "class/power_supply/AC/online");
    CHECK(read_power(sys.path).on_battery);
  }
}
