// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace waggle::node {

/// Counts the bytes of a day, over restarts. Pure: who owns it hands in the time and a count that
/// only grows while the program runs, and keeps its text. A day ends at local midnight; a clock
/// that is set to another day begins a new one.
class DailyTraffic {
 public:
  /// `socket_bytes`: all since the program started.
  void look(std::uint64_t socket_bytes, double unix_time);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// What was counted before this start, as text() had it; adds to what was counted since, if it is
  /// of the same day. Anything else counts for nothing.
  void restore(std::string_view text, double unix_time);
  /// "20261130 123456": the day and its bytes. Nothing to keep: unset.
  [[nodiscard]] std::optional<std::string> text() const;

 private:
  int day_ = 0;  ///< year, month, day as one number; 0: none yet
  std::uint64_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace waggle::node
