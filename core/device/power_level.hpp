// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waggle::device {

/// How much of the machine a person gives: the window's slider, `power` in waggle.toml.
enum class PowerLevel : std::uint8_t {
  light,   ///< a quarter of the cores, half of the time
  medium,  ///< half of the cores
  full,    ///< all cores
};

[[nodiscard]] std::string_view name(PowerLevel level) noexcept;
[[nodiscard]] std::optional<PowerLevel> power_level(std::string_view name) noexcept;

/// What the trainer may take: threads, the share of their time, and of the GPU's.
struct Effort {
  unsigned threads = 1;
  double duty = 1;
  double gpu_duty = 1;

  friend bool operator==(Effort const&, Effort const&) = default;
};

/// `wanted`: the number of threads that a person set, 0: none; then it stands at medium and full,
/// and light takes half of it.
[[nodiscard]] Effort effort(PowerLevel level, unsigned cores, unsigned wanted) noexcept;

}  // namespace waggle::device
