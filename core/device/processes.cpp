// SPDX-License-Identifier: MIT
#include "core/device/processes.hpp"

#include <algorithm>
#include <charconv>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

constexpr std::size_t kMaxProcesses = 1 << 16;
// Fields of /proc/PID/stat after the name, counted from the state.
constexpr std::size_t kUserTime = 11;
constexpr std::size_t kSystemTime = 12;
constexpr std::size_t kStartTime = 19;

std::optional<std::uint64_t> unsigned_number(std::string_view text) {
  std::uint64_t value = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::optional<Process> parse_process(std::string_view stat) {
  // The name stands between the first opening and the last closing parenthesis.
  auto const open = stat.find(" (");
  auto const close = stat.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2)
    return {};
  auto const pid = detail::whole_number(stat.substr(0, open));
  if (!pid || *pid <= 0) return {};
  Process process;
  process.pid = *pid;
  process.name = std::string(stat.substr(open + 2, std::min(close - open - 2, kLongestName)));
  auto rest = stat.substr(close + 2);
  std::size_t field = 0;
  for (; field <= kStartTime && !rest.empty(); ++field) {
    auto const end = std::min(rest.find(' '), rest.size());
    if (field == kUserTime || field == kSystemTime || field == kStartTime) {
      auto const value = unsigned_number(rest.substr(0, end));
      if (!value) return {};
      (field == kStartTime ? process.start : process.ticks) += *value;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (field <= kStartTime) return {};
  return process;
}

std::vector<Process> read_processes(std::filesystem::path const& proc) {
  std::vector<Process> processes;
  for (auto const& name : detail::names_in(proc, kMaxProcesses)) {
    if (!detail::whole_number(name)) continue;
    auto process = parse_process(detail::read_small(proc / name / "stat"));
    if (process) processes.push_back(*std::move(process));
  }
  return processes;
}

std::optional<std::string> running(std::span<std::string const> wanted,
                                   std::span<Process const> processes) {
  for (auto const& name : wanted) {
    auto const kept = name.substr(0, kLongestName);
    for (auto const& process : processes)
      if (process.name == kept) return name;
  }
  return {};
}

}  // namespace waggle::device
