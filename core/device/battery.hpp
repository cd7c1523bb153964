// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace waggle::device {

/// One entry of /sys/class/power_supply: its files' texts, empty where there is none.
struct Supply {
  std::string type;      ///< Battery, UPS, Mains, USB, Wireless
  std::string scope;     ///< Device: a mouse's or a headset's, not this machine's
  std::string online;    ///< 0 | 1, and 2 for some USB supplies
  std::string status;    ///< Charging, Discharging, Full, Not charging, Unknown
  std::string present;   ///< 0: the bay is empty
  std::string capacity;  ///< percent
};

/// What feeds this machine.
struct Power {
  bool has_battery = false;
  bool on_battery = false;
  std::optional<int> percent;  ///< of all its batteries, the mean

  friend bool operator==(Power const&, Power const&) = default;
};

/// On battery: there is a battery of the machine's own, none of them charges, and no outside supply
/// is online; where no outside supply is listed, a battery says that it discharges. What says
/// nothing readable counts as not there.
/// Source: Linux, Documentation/ABI/testing/sysfs-class-power.
[[nodiscard]] Power power_of(std::span<Supply const> supplies);

/// Reads <sys>/class/power_supply. Cost: six small files a supply; a slow controller may take
/// a tenth of a second each.
[[nodiscard]] Power read_power(std::filesystem::path const& sys);

}  // namespace waggle::device
