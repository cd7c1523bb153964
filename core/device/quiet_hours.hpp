// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace waggle::device {

/// A moment on the wall's clock.
struct LocalTime {
  int weekday = 0;  ///< 0 is Monday
  int minute = 0;   ///< of the day, 0 to 1439
};

/// A span of each chosen day in which nothing is computed. It may go past midnight; the day is the
/// one on which it begins.
struct QuietHours {
  unsigned days = 0;  ///< bit n: weekday n
  int begin = 0;      ///< minute of the day
  int end = 0;        ///< minute of the day; equal to begin: a whole day

  /// "22:00-07:00", "sat,sun 10:00-12:30", "mon-fri 09:00-17:00". Errors: invalid (what is wrong
  /// and how it is written).
  [[nodiscard]] static Result<QuietHours> parse(std::string_view text);

  /// Minutes from `now` until it ends; unset: it is not now.
  [[nodiscard]] std::optional<int> minutes_left(LocalTime now) const;

  friend bool operator==(QuietHours const&, QuietHours const&) = default;
};

/// Minutes until the last of those that are now ends; unset: none is now.
[[nodiscard]] std::optional<int> minutes_left(std::span<QuietHours const> hours, LocalTime now);

/// "07:05".
[[nodiscard]] std::string clock_text(int minute_of_day);

}  // namespace waggle::device
