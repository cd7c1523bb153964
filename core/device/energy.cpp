// SPDX-License-Identifier: MIT
#include "core/device/energy.hpp"

#include <algorithm>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

constexpr std::size_t kMaxZones = 256;
constexpr double kSmoothing = 60;       // seconds
constexpr double kLongestGap = 600;     // seconds; a machine that slept says nothing
constexpr double kMostWatts = 2000;     // a core; more is a counter that was set back
constexpr double kMostGpuWatts = 5000;  // a card; more is no reading
constexpr double kLongestGpuGap = 60;   // seconds; a reading is no older than that
constexpr double kJoulesPerKilowattHour = 3.6e6;

std::optional<std::uint64_t> counter(std::filesystem::path const& file) {
  auto const value = detail::whole_number(detail::read_small(file));
  if (!value || *value < 0) return {};
  return static_cast<std::uint64_t>(*value);
}

}  // namespace

CoreWatts::CoreWatts(std::filesystem::path sys) {
  auto const zones = sys / "class/powercap";
  for (auto const& name : detail::names_in(zones, kMaxZones)) {
    // "intel-rapl:0" is a package; "intel-rapl:0:1" a part of it, "intel-rapl-mmio:0" the same
    // again.
    if (!name.starts_with("intel-rapl:") || std::ranges::count(name, ':') != 1) continue;
    if (!detail::read_small(zones / name / "name").starts_with("package")) continue;
    auto const file = zones / name / "energy_uj";
    auto const range = counter(zones / name / "max_energy_range_uj");
    if (range && counter(file)) packages_.push_back({file, *range, {}});
  }
}

void CoreWatts::look(std::optional<double> busy, TimePoint now) {
  if (packages_.empty()) return;
  double joules = 0;
  bool known = true;
  for (auto& package : packages_) {
    auto const value = counter(package.file);
    if (value && package.last) {
      auto const spent =
          *value >= *package.last ? *value - *package.last : package.range - *package.last + *value;
      joules += 1e-6 * static_cast<double>(spent);
    } else {
      known = false;
    }
    package.last = value;
  }
  auto const before = looked_;
  looked_ = now;
  if (!before || !known || !busy) return;
  double const gap = to_seconds(now - *before);
  if (gap <= 0 || gap > kLongestGap) return;
  double const watts = joules / gap / std::max(1.0, *busy);
  if (watts > kMostWatts) return;
  double const part = std::min(1.0, gap / kSmoothing);
  watts_ = watts_ ? *watts_ + part * (watts - *watts_) : watts;
}

void GpuEnergy::look(std::optional<double> watts, TimePoint now) noexcept {
  if (looked_) joules_ += watts_ * std::clamp(to_seconds(now - *looked_), 0.0, kLongestGpuGap);
  looked_ = now;
  bool const makes_sense = watts && *watts >= 0 && *watts <= kMostGpuWatts;
  watts_ = makes_sense ? *watts : 0;
}

double kilowatt_hours(double joules) noexcept {
  return std::max(0.0, joules) / kJoulesPerKilowattHour;
}

double kilowatt_hours(double core_seconds, double watts_per_core) noexcept {
  return kilowatt_hours(std::max(0.0, core_seconds) * watts_per_core);
}

}  // namespace waggle::device
