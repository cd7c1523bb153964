// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "core/device/processes.hpp"

namespace waggle::device {

/// Ticks of all processors together since boot.
struct CpuTimes {
  std::uint64_t busy = 0;
  std::uint64_t total = 0;

  friend bool operator==(CpuTimes const&, CpuTimes const&) = default;
};

/// The first line of /proc/stat. Busy is user, nice, system and interrupts; waiting for a disk and
/// what a hypervisor took away are not. Unset: no such line. Source: proc(5).
[[nodiscard]] std::optional<CpuTimes> parse_cpu_times(std::string_view stat);

/// Shares of the whole machine's processors, 0 to 1, between two looks.
struct CpuLoad {
  double all = 0;
  double others = 0;  ///< less every program of ours

  friend bool operator==(CpuLoad const&, CpuLoad const&) = default;
};

/// Whether a program is ours, of this run or of another: two Waggles on one machine do not make
/// room for each other in turns.
[[nodiscard]] bool is_ours(Process const& process);

/// Turns two looks into a load. Knows a pid that is used again by its start.
class LoadMeter {
 public:
  /// Unset at the first look, and where no time has passed.
  [[nodiscard]] std::optional<CpuLoad> look(CpuTimes times, std::span<Process const> processes);

 private:
  struct Seen {
    std::uint64_t start;
    std::uint64_t ticks;
  };

  std::optional<CpuTimes> last_;
  std::map<std::int64_t, Seen> ours_;
};

}  // namespace waggle::device
