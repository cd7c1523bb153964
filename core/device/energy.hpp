// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/runtime.hpp"

namespace waggle::device {

/// What one busy core of a desktop or laptop processor takes where nothing measures it: 65 W over
/// eight cores and 28 W over eight are the usual ends. An estimate, and shown as one.
constexpr double kWattsPerBusyCore = 6;

/// How many watts a busy core takes on this machine.
///
/// Where the processor's energy counters can be read (RAPL, <sys>/class/powercap, for which most
/// systems ask for root), the watts of all packages over the cores that are busy, at least one,
/// smoothed over a minute; else kWattsPerBusyCore. So a machine at rest overestimates a little: its
/// idle watts count as those of the one core. Thread: one caller.
/// Source: Linux, Documentation/power/powercap/powercap.rst.
class CoreWatts {
 public:
  explicit CoreWatts(std::filesystem::path sys);

  /// Call it once a second or so. `busy`: cores busy on average since the last call; unset: not
  /// known, and nothing is learnt.
  void look(std::optional<double> busy, TimePoint now);

  [[nodiscard]] double per_busy_core() const noexcept { return watts_.value_or(kWattsPerBusyCore); }

  [[nodiscard]] bool measured() const noexcept { return watts_.has_value(); }

 private:
  struct Package {
    std::filesystem::path file;
    std::uint64_t range;  ///< microjoules, where the counter begins anew
    std::optional<std::uint64_t> last;
  };

  std::vector<Package> packages_;
  std::optional<TimePoint> looked_;
  std::optional<double> watts_;
};

/// What a GPU took while it worked for us, from readings now and then. A card's idle watts count as
/// ours for that time: nothing tells them apart. Thread: one caller.
class GpuEnergy {
 public:
  /// Call it once a second or so. `watts`: of the card that works; unset: none does, or nothing
  /// measures it, and the time until the next look counts for nothing.
  void look(std::optional<double> watts, TimePoint now) noexcept;

  [[nodiscard]] double joules() const noexcept { return joules_; }

 private:
  double joules_ = 0;
  double watts_ = 0;
  std::optional<TimePoint> looked_;
};

/// kWh of so many joules.
[[nodiscard]] double kilowatt_hours(double joules) noexcept;
/// kWh of so many seconds of busy cores.
[[nodiscard]] double kilowatt_hours(double core_seconds, double watts_per_core) noexcept;

}  // namespace waggle::device
