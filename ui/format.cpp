// SPDX-License-Identifier: MIT
#include "ui/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/base/text.hpp"

namespace waggle::ui {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  int const n = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  std::string out(buffer.data(), static_cast<std::size_t>(std::max(0, std::min(n, 63))));
  // The locale may write a comma.
  for (auto& c : out)
    if (c == ',') c = '.';
  return out;
}

// 0.9999 is written as 1.00: it has a whole digit once it is rounded to three.
constexpr double kRoundsUp = 1.0005;

int digits_for(double value, int significant) {
  double const size = std::abs(value);
  if (size == 0) return 0;
  int const whole = static_cast<int>(std::floor(std::log10(size * kRoundsUp))) + 1;
  return std::max(0, std::min(6, significant - whole));
}

// The bytes of the letter that a text begins with; 0: it begins with none, or with one of those
// beyond 16 bits, which ImGui cannot draw.
std::size_t letter_size(std::string_view words) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(words[i]); };
  auto const goes_on = [&](std::size_t i) {
    return i < words.size() && (byte(i) & 0xC0U) == 0x80U;
  };
  auto const lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  if (lead >= 0xC2 && lead < 0xE0) {
    // U+0080 to U+009F are controls.
    if (!goes_on(1) || (lead == 0xC2 && byte(1) < 0xA0)) return 0;
    return 2;
  }
  if (lead < 0xE0 || lead >= 0xF0 || !goes_on(1) || !goes_on(2)) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;   // written too long
  if (lead == 0xED && byte(1) >= 0xA0) return 0;  // half of a pair
  return 3;
}

std::string grouped(std::uint64_t value) {
  auto out = cat(value);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3)
    out.insert(static_cast<std::size_t>(at), 1, ',');
  return out;
}

}  // namespace

std::string decimal(double value, int significant) {
  if (!std::isfinite(value)) return "–";
  return fixed(value, digits_for(value, significant));
}

std::string count(double value, Language language) {
  if (!std::isfinite(value)) return "–";
  double const size = std::abs(value);
  if (size < 10) return fixed(value, value == std::floor(value) ? 0 : 1);
  if (language == Language::chinese && size >= 1e5)
    return size >= 1e8 ? cat(decimal(value / 1e8), " 亿") : cat(decimal(value / 1e4, 4), " 万");
  if (size < 1e6 && value > 0) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  if (size < 1e9) return cat(decimal(value / 1e6), " M");
  return cat(decimal(value / 1e9), " G");
}

std::string speed(double value, Language language) {
  return std::abs(value) < 1000 ? decimal(value) : count(value, language);
}

std::string kilowatt_hours(double kwh) {
  double const wh = 1000 * kwh;
  if (wh > 0 && wh < 0.05) return "< 0.1 Wh";
  if (wh < 10) return cat(fixed(wh, wh == std::floor(wh) ? 0 : 1), " Wh");
  return wh < 1000 ? cat(decimal(wh), " Wh") : cat(decimal(kwh), " kWh");
}

std::string bytes(double value) {
  static constexpr std::array<char const*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  // 999.95 would be written as 1000.
  while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return cat(unit == 0 ? fixed(value, 0) : decimal(value, 3), " ", kUnits[unit]);
}

std::string binary_bytes(double value) {
  static constexpr std::array<char const*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(value) >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  // 4 GiB, but 15.5 GiB: a digit after the point only where it says something.
  double const tenths = std::round(10 * value) / 10;
  bool const whole = unit == 0 || tenths == std::floor(tenths) || std::abs(value) >= 100;
  return cat(fixed(value, whole ? 0 : 1), " ", kUnits[unit]);
}

std::string percent(double share) {
  if (!std::isfinite(share)) return "–";
  double const value = 100 * share;
  return cat(fixed(value, std::abs(value) < 99.95 && value != 0 ? 1 : 0), " %");
}

std::string duration(double seconds, Language language) {
  if (!std::isfinite(seconds) || seconds < 0) return "–";
  bool const zh = language == Language::chinese;
  auto const s = static_cast<std::uint64_t>(std::llround(seconds));
  auto const two = [](std::uint64_t a, char const* unit, std::uint64_t b, char const* rest) {
    return b == 0 ? cat(a, unit) : cat(a, unit, " ", b, rest);
  };
  if (s < 60) return cat(s, zh ? " 秒" : " s");
  if (zh && s < 3600 && s % 60 == 0) return cat(s / 60, " 分钟");
  if (s < 3600) return two(s / 60, zh ? " 分" : " min", s % 60, zh ? " 秒" : " s");
  if (s < 86'400) return two(s / 3600, zh ? " 小时" : " h", s % 3600 / 60, zh ? " 分" : " min");
  return two(s / 86'400, zh ? " 天" : " d", s % 86'400 / 3600, zh ? " 小时" : " h");
}

std::string rough_duration(double seconds, Language language) {
  constexpr double kMinute = 60;
  return duration(seconds < kMinute ? seconds : kMinute * std::round(seconds / kMinute), language);
}

std::string took(double seconds, Language language) {
  constexpr double kMinute = 59.95;
  if (!std::isfinite(seconds) || seconds < 0 || seconds >= kMinute)
    return duration(seconds, language);
  return cat(fixed(seconds, seconds < 1 ? 2 : 1), language == Language::chinese ? " 秒" : " s");
}

std::string clock_time(double unix_time) {
  auto const seconds = static_cast<std::time_t>(unix_time);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "–";
  std::array<char, 16> buffer{};
  auto const n = std::strftime(buffer.data(), buffer.size(), "%H:%M:%S", &parts);
  return {buffer.data(), n};
}

std::string date(double unix_time) {
  auto const seconds = static_cast<std::time_t>(unix_time);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "–";
  std::array<char, 16> buffer{};
  auto const n = std::strftime(buffer.data(), buffer.size(), "%m-%d", &parts);
  return {buffer.data(), n};
}

std::string short_id(std::string_view id) {
  constexpr std::size_t kShown = 4;
  // Every Ed25519 PeerID begins with 12D3KooW: its end tells peers apart.
  constexpr std::string_view kCommon = "12D3KooW";
  if (id.starts_with(kCommon) && id.size() > kCommon.size() + 2 * kShown)
    return cat(id.substr(kCommon.size(), kShown), "…", id.substr(id.size() - kShown));
  if (id.size() <= 2 * kShown + 2) return std::string(id);
  return cat(id.substr(0, kShown), "…", id.substr(id.size() - kShown));
}

std::string readable_key(std::string_view id) {
  constexpr std::size_t kGroup = 4;
  std::string out;
  for (std::size_t i = 0; i < id.size(); i += kGroup)
    out += cat(i == 0 ? "" : " ", id.substr(i, kGroup));
  return out;
}

std::string printable(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    auto const size = letter_size(words);
    if (size > 0)
      out += words.substr(0, size);
    else
      out += words.front() == '\n' ? ' ' : '.';
    words.remove_prefix(std::max<std::size_t>(1, size));
  }
  return out;
}

}  // namespace waggle::ui
