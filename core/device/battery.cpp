// SPDX-License-Identifier: MIT
#include "core/device/battery.hpp"

#include <vector>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

constexpr std::size_t kMaxSupplies = 64;
constexpr int kFull = 100;

bool stores(Supply const& supply) {
  return supply.type == "Battery" || supply.type == "UPS";
}

bool feeds_from_outside(Supply const& supply) {
  // USB, USB_C, USB_PD and so on: kernels name them differently.
  return supply.type == "Mains" || supply.type == "Wireless" || supply.type.starts_with("USB");
}

}  // namespace

Power power_of(std::span<Supply const> supplies) {
  Power power;
  bool outside_listed = false;
  bool outside_online = false;
  bool charging = false;
  bool discharging = false;
  int sum = 0;
  int counted = 0;
  for (auto const& supply : supplies) {
    if (supply.scope == "Device") continue;
    auto const online = detail::whole_number(supply.online);
    if (feeds_from_outside(supply) && online) {
      outside_listed = true;
      outside_online |= *online > 0;
    }
    if (!stores(supply) || supply.present == "0") continue;
    power.has_battery = true;
    charging |= supply.status == "Charging";
    discharging |= supply.status == "Discharging";
    auto const capacity = detail::whole_number(supply.capacity);
    if (capacity && *capacity >= 0 && *capacity <= kFull) {
      sum += static_cast<int>(*capacity);
      ++counted;
    }
  }
  if (counted > 0) power.percent = sum / counted;
  power.on_battery =
      power.has_battery && !charging && !outside_online && (outside_listed || discharging);
  return power;
}

Power read_power(std::filesystem::path const& sys) {
  auto const folder = sys / "class/power_supply";
  std::vector<Supply> supplies;
  for (auto const& name : detail::names_in(folder, kMaxSupplies)) {
    auto const entry = folder / name;
    Supply supply;
    supply.type = detail::read_small(entry / "type");
    supply.scope = detail::read_small(entry / "scope");
    supply.online = detail::read_small(entry / "online");
    supply.status = detail::read_small(entry / "status");
    supply.present = detail::read_small(entry / "present");
    supply.capacity = detail::read_small(entry / "capacity");
    supplies.push_back(std::move(supply));
  }
  return power_of(supplies);
}

}  // namespace waggle::device
