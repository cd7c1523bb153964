// SPDX-License-Identifier: MIT
#include "core/device/temperature.hpp"

#include <algorithm>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

constexpr double kColdest = -30;
constexpr double kHottest = 150;
constexpr std::size_t kMaxSensors = 256;

void keep_hotter(std::optional<double>& hottest, std::optional<double> value) {
  if (value && (!hottest || *value > *hottest)) hottest = value;
}

}  // namespace

std::optional<double> parse_celsius(std::string_view text) {
  auto const thousandths = detail::whole_number(text);
  if (!thousandths) return {};
  double const celsius = static_cast<double>(*thousandths) / 1000;
  if (celsius < kColdest || celsius > kHottest) return {};
  return celsius;
}

bool names_processor(std::string_view sensor) {
  for (std::string_view const known : {"coretemp", "k10temp", "zenpower", "x86_pkg_temp"})
    if (sensor == known) return true;
  // cpu_thermal, cpu-thermal, CPU-therm, cpu0-thermal …
  return sensor.starts_with("cpu") || sensor.starts_with("CPU");
}

std::optional<double> read_temperature(std::filesystem::path const& sys) {
  std::optional<double> processor;
  std::optional<double> any;
  auto const zones = sys / "class/thermal";
  for (auto const& name : detail::names_in(zones, kMaxSensors)) {
    if (!name.starts_with("thermal_zone")) continue;
    auto const celsius = parse_celsius(detail::read_small(zones / name / "temp"));
    keep_hotter(any, celsius);
    if (names_processor(detail::read_small(zones / name / "type"))) keep_hotter(processor, celsius);
  }
  auto const chips = sys / "class/hwmon";
  for (auto const& chip : detail::names_in(chips, kMaxSensors)) {
    if (!names_processor(detail::read_small(chips / chip / "name"))) continue;
    for (auto const& name : detail::names_in(chips / chip, kMaxSensors))
      if (name.starts_with("temp") && name.ends_with("_input"))
        keep_hotter(processor, parse_celsius(detail::read_small(chips / chip / name)));
  }
  return processor ? processor : any;
}

}  // namespace waggle::device
