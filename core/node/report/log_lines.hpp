// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/result.hpp"

/// The files that core/base/log writes, read back.
namespace waggle::node {

[[nodiscard]] std::optional<log::Level> log_level(std::string_view word);

/// "2026-01-31T12:00:00.000Z info    node      text". Unset: not a line of ours.
[[nodiscard]] std::optional<log::Line> parse_log_line(std::string_view line);

/// Unix seconds of "2026-01-31", "2026-01-31T12:00", "…:30", "…:30.5", each with or without Z: UTC,
/// as the log is.
[[nodiscard]] std::optional<double> parse_utc(std::string_view text);
/// As parse_utc, or so long before `now`: "90s", "10m", "2h", "3d".
[[nodiscard]] std::optional<double> parse_since(std::string_view text, double now);

/// The form of the file, for a person.
[[nodiscard]] std::string format_log_line(log::Line const& line);

struct LogFilter {
  log::Level level = log::Level::trace;
  double since = 0;  ///< Unix seconds

  [[nodiscard]] bool lets(log::Line const& line) const {
    return line.level >= level && line.time >= since;
  }
};

/// Follows <data dir>/logs/waggle.log through rotations. Lines longer than the log writes are
/// dropped, and so is what is no line of the log.
class LogReader {
 public:
  /// Begins with the oldest file that is kept.
  explicit LogReader(std::filesystem::path folder);
  ~LogReader();
  LogReader(LogReader const&) = delete;
  LogReader& operator=(LogReader const&) = delete;

  /// Calls `take` with each whole line that came since the last call. Errors: not_found (no log at
  /// all yet), io.
  [[nodiscard]] Status read(std::function<void(log::Line const&)> const& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::node
