// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace waggle::device {

/// The kernel keeps so much of a program's name.
constexpr std::size_t kLongestName = 15;

/// One running program.
struct Process {
  std::int64_t pid = 0;
  std::string name;         ///< as in /proc/PID/comm, at most kLongestName bytes
  std::uint64_t ticks = 0;  ///< processor time of all its threads so far, user and system
  std::uint64_t start = 0;  ///< ticks after boot: tells a pid that is used again

  friend bool operator==(Process const&, Process const&) = default;
};

/// Parses one /proc/PID/stat. Names may hold anything, parentheses and line ends too. Unset: it is
/// none.
/// Source: proc(5).
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

/// All running programs under `proc`, at most 65,536; those that end meanwhile are left out.
/// Cost: one small file each, some milliseconds together.
[[nodiscard]] std::vector<Process> read_processes(std::filesystem::path const& proc);

/// The first of `wanted` that runs. Names compare whole, as far as the kernel keeps them.
[[nodiscard]] std::optional<std::string> running(std::span<std::string const> wanted,
                                                 std::span<Process const> processes);

}  // namespace waggle::device
