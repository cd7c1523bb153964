// SPDX-License-Identifier: MIT
#include "core/device/power_level.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace waggle::device {
namespace {

constexpr std::array<std::pair<PowerLevel, std::string_view>, 3> kNames{{
    {PowerLevel::light, "light"},
    {PowerLevel::medium, "medium"},
    {PowerLevel::full, "full"},
}};
constexpr double kLightDuty = 0.5;

}  // namespace

std::string_view name(PowerLevel level) noexcept {
  for (auto const& [one, word] : kNames)
    if (one == level) return word;
  return "?";
}

std::optional<PowerLevel> power_level(std::string_view name) noexcept {
  for (auto const& [level, word] : kNames)
    if (word == name) return level;
  return {};
}

Effort effort(PowerLevel level, unsigned cores, unsigned wanted) noexcept {
  bool const light = level == PowerLevel::light;
  unsigned const part = light ? 4 : level == PowerLevel::medium ? 2 : 1;
  unsigned const threads = wanted == 0 ? cores / part : light ? wanted / 2 : wanted;
  double const duty = light ? kLightDuty : 1.0;
  return {std::max(1U, threads), duty, duty};
}

}  // namespace waggle::device
