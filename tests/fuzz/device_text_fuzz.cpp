// SPDX-License-Identifier: MIT
// What /proc and /sys hold, and what a person writes: never a crash, and a name never too long.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/device/cpu_load.hpp"
#include "core/device/processes.hpp"
#include "core/device/quiet_hours.hpp"
#include "core/device/temperature.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace waggle::device;
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  if (auto const process = parse_process(text))
    if (process->pid <= 0 || process->name.size() > kLongestName) std::abort();
  if (auto const times = parse_cpu_times(text)) (void)times->busy;
  if (auto const celsius = parse_celsius(text); celsius && (*celsius < -30 || *celsius > 150))
    std::abort();
  if (auto const hours = QuietHours::parse(text))
    if (hours->days == 0 || hours->begin >= 1440 || hours->end >= 1440) std::abort();
  return 0;
}
