// SPDX-License-Identifier: MIT
#include "core/device/quiet_hours.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace waggle::device {
namespace {

constexpr int kDay = 24 * 60;
constexpr int kDays = 7;
constexpr unsigned kEveryDay = (1U << kDays) - 1;
constexpr std::array<std::string_view, kDays> kNames{
    "mon", "tue", "wed", "thu", "fri", "sat", "sun"};

Error wrong(std::string_view text) {
  return Error{Errc::invalid,
               cat("\"",
                   text.substr(0, 64),
                   "\" is no span of time; write \"22:00-07:00\" or \"sat,sun 10:00-12:00\"")};
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// "07:05"
std::optional<int> minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return {};
  for (auto const at : {0, 1, 3, 4})
    if (!digit(text[static_cast<std::size_t>(at)])) return {};
  int const hour = 10 * (text[0] - '0') + (text[1] - '0');
  int const minute = 10 * (text[3] - '0') + (text[4] - '0');
  if (minute > 59 || hour > 24 || (hour == 24 && minute > 0)) return {};
  return (60 * hour + minute) % kDay;
}

std::optional<unsigned> day_of(std::string_view text) {
  auto const at = std::find(kNames.begin(), kNames.end(), text);
  if (at == kNames.end()) return {};
  return static_cast<unsigned>(at - kNames.begin());
}

// "mon", "mon-fri", "sat,sun", "fri-mon"
std::optional<unsigned> days_of(std::string_view text) {
  unsigned days = 0;
  while (!text.empty()) {
    auto const comma = text.find(',');
    auto const part = text.substr(0, comma);
    if (comma == text.size() - 1) return {};
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    auto const dash = part.find('-');
    auto const first = day_of(part.substr(0, dash));
    auto const last = dash == std::string_view::npos ? first : day_of(part.substr(dash + 1));
    if (!first || !last) return {};
    for (unsigned day = *first;; day = (day + 1) % kDays) {
      days |= 1U << day;
      if (day == *last) break;
    }
  }
  return days;
}

}  // namespace

Result<QuietHours> QuietHours::parse(std::string_view text) {
  QuietHours hours;
  hours.days = kEveryDay;
  auto span = text;
  if (auto const space = text.find(' '); space != std::string_view::npos) {
    auto const days = days_of(text.substr(0, space));
    if (!days || *days == 0) return wrong(text);
    hours.days = *days;
    span = text.substr(space + 1);
  }
  auto const dash = span.find('-');
  if (dash == std::string_view::npos) return wrong(text);
  auto const begin = minute_of(span.substr(0, dash));
  auto const end = minute_of(span.substr(dash + 1));
  if (!begin || !end) return wrong(text);
  hours.begin = *begin;
  hours.end = *end;
  return hours;
}

std::optional<int> QuietHours::minutes_left(LocalTime now) const {
  int const length = (end - begin + kDay - 1) % kDay + 1;  // 1 to a whole day
  std::optional<int> left;
  // It may have begun today, or yesterday.
  for (int const ago : {0, 1}) {
    int const since = now.minute - begin + ago * kDay;
    int const day = (now.weekday - ago + kDays) % kDays;
    bool const chosen = (days >> day & 1U) != 0;
    if (chosen && since >= 0 && since < length) left = std::max(left.value_or(0), length - since);
  }
  return left;
}

std::optional<int> minutes_left(std::span<QuietHours const> hours, LocalTime now) {
  std::optional<int> left;
  for (auto const& one : hours)
    if (auto const its = one.minutes_left(now)) left = std::max(left.value_or(0), *its);
  return left;
}

std::string clock_text(int minute_of_day) {
  int const minute = (minute_of_day % kDay + kDay) % kDay;
  auto const two = [](int n) { return cat(n < 10 ? "0" : "", n); };
  return cat(two(minute / 60), ":", two(minute % 60));
}

}  // namespace waggle::device
