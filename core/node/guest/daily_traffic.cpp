// SPDX-License-Identifier: MIT
#include "core/node/guest/daily_traffic.hpp"

#include <charconv>
#include <ctime>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

// Two of them never overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

int day_of(double unix_time) {
  auto const whole = static_cast<std::time_t>(unix_time);
  std::tm parts{};
  if (::localtime_r(&whole, &parts) == nullptr) return 0;
  return 10'000 * (parts.tm_year + 1900) + 100 * (parts.tm_mon + 1) + parts.tm_mday;
}

template <class T>
bool number(std::string_view text, T& into) {
  auto const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, into);
  return read.ec == std::errc{} && read.ptr == end;
}

}  // namespace

void DailyTraffic::look(std::uint64_t socket_bytes, double unix_time) {
  int const day = day_of(unix_time);
  if (day != day_) bytes_ = 0;
  day_ = day;
  if (socket_bytes > last_) bytes_ += socket_bytes - last_;
  last_ = socket_bytes;
}

void DailyTraffic::restore(std::string_view text, double unix_time) {
  auto const space = text.find(' ');
  int day = 0;
  std::uint64_t bytes = 0;
  if (space == std::string_view::npos || !number(text.substr(0, space), day) ||
      !number(text.substr(space + 1), bytes) || bytes > kMostBytes || day != day_of(unix_time))
    return;
  if (day_ != 0 && day_ != day) return;
  day_ = day;
  bytes_ += bytes;
}

std::optional<std::string> DailyTraffic::text() const {
  if (day_ == 0) return {};
  return cat(day_, ' ', bytes_);
}

}  // namespace waggle::node
