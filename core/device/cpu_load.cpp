// SPDX-License-Identifier: MIT
#include "core/device/cpu_load.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace waggle::device {
namespace {

// user nice system idle iowait irq softirq steal; guest time is part of user's.
constexpr std::size_t kFields = 8;
constexpr std::size_t kLeastFields = 4;
constexpr std::size_t kIdle = 3;
constexpr std::size_t kWaiting = 4;
constexpr std::size_t kStolen = 7;

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view stat) {
  auto line = stat.substr(0, stat.find('\n'));
  if (!line.starts_with("cpu ")) return {};
  line.remove_prefix(4);
  std::array<std::uint64_t, kFields> fields{};
  std::size_t have = 0;
  for (; have < kFields; ++have) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) break;
    auto const [end, ec] = std::from_chars(line.data(), line.data() + line.size(), fields[have]);
    if (ec != std::errc{}) return {};
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  }
  if (have < kLeastFields) return {};
  CpuTimes times;
  for (std::size_t i = 0; i < kFields; ++i) {
    times.total += fields[i];
    if (i != kIdle && i != kWaiting && i != kStolen) times.busy += fields[i];
  }
  return times;
}

bool is_ours(Process const& process) {
  return process.name == "waggle" || process.name == "waggle-trainer";
}

std::optional<CpuLoad> LoadMeter::look(CpuTimes times, std::span<Process const> processes) {
  std::uint64_t own = 0;
  std::map<std::int64_t, Seen> now;
  for (auto const& process : processes) {
    if (!is_ours(process)) continue;
    now[process.pid] = {process.start, process.ticks};
    auto const before = ours_.find(process.pid);
    bool const known = before != ours_.end() && before->second.start == process.start;
    auto const since = known ? before->second.ticks : 0;
    own += process.ticks - std::min(since, process.ticks);
  }
  ours_ = std::move(now);
  auto const last = std::exchange(last_, times);
  // Counters that run backwards are another machine's, or a suspended one's: begin anew.
  if (!last || times.total <= last->total || times.busy < last->busy) return {};
  auto const total = static_cast<double>(times.total - last->total);
  auto const busy = static_cast<double>(times.busy - last->busy);
  CpuLoad load;
  load.all = std::clamp(busy / total, 0.0, 1.0);
  load.others = std::clamp((busy - static_cast<double>(own)) / total, 0.0, 1.0);
  return load;
}

}  // namespace waggle::device
