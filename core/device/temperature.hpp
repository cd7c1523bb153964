// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace waggle::device {

/// Thousandths of a degree as /sys writes them, to °C. Unset: no number, or none that a sensor in a
/// running machine means (below −30 or above 150 °C).
[[nodiscard]] std::optional<double> parse_celsius(std::string_view text);

/// Whether a sensor of this name stands for the processor.
[[nodiscard]] bool names_processor(std::string_view sensor);

/// The hottest of the processor's sensors in <sys>/class/hwmon and <sys>/class/thermal; where none
/// is the processor's, the hottest thermal zone. Unset: this machine has none (a virtual one).
/// Source: Linux, Documentation/hwmon/sysfs-interface,
/// Documentation/ABI/testing/sysfs-class-thermal.
[[nodiscard]] std::optional<double> read_temperature(std::filesystem::path const& sys);

}  // namespace waggle::device
