// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ui/text.hpp"

namespace waggle::ui {

/// Figures as a person reads them; at most four significant digits, whatever the locale.

/// 950, 12,345, 1.23 M (English) or 123.4 万 (Chinese).
[[nodiscard]] std::string count(double value, Language language);
/// So many a second: 0.4, 12.3, 850, 4,297.
[[nodiscard]] std::string speed(double value, Language language);
/// Electricity: 0.2 Wh, 169 Wh, 1.23 kWh.
[[nodiscard]] std::string kilowatt_hours(double kwh);
/// 0.4, 12.3, 850.
[[nodiscard]] std::string decimal(double value, int significant = 3);
/// 512 B, 1.5 MB; powers of 1000.
[[nodiscard]] std::string bytes(double value);
/// 512 MiB, 15.5 GiB; powers of 1024, as memory is sold and as settings count.
[[nodiscard]] std::string binary_bytes(double value);
[[nodiscard]] std::string percent(double share);
/// 5 s, 3 min 20 s, 2 h 5 min, 3 d 4 h.
[[nodiscard]] std::string duration(double seconds, Language language);
/// The same to the minute from one minute on, for what would else change each second.
[[nodiscard]] std::string rough_duration(double seconds, Language language);
/// How long something took: 0.02 s, 5.4 s, 1 min 20 s.
[[nodiscard]] std::string took(double seconds, Language language);
/// 13:05:09, local time of a Unix time.
[[nodiscard]] std::string clock_time(double unix_time);
/// 11-30: month and day, local time of a Unix time.
[[nodiscard]] std::string date(double unix_time);
/// A PeerID's beginning and end: 12D3…KzQp. Short texts stay whole.
[[nodiscard]] std::string short_id(std::string_view id);
/// A key in groups of four, to be read aloud and compared: 12D3 KooW …
[[nodiscard]] std::string readable_key(std::string_view id);

/// Bytes of a text on one line: a line break as a space, and what is no letter in UTF-8, which
/// would come out as a box, as a dot.
[[nodiscard]] std::string printable(std::string_view words);

}  // namespace waggle::ui
