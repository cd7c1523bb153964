// SPDX-License-Identifier: MIT
#include "core/node/report/log_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMaxLine = log::kMaxText * 4 + 128;  // each byte may have become \xNN
constexpr int kMostOlderFiles = 99;

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  for (char const c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Seconds of a day in "12:00", "12:00:30", "12:00:30.5".
std::optional<double> time_of_day(std::string_view text) {
  auto const hour = digits(text, 0, 2);
  auto const minute = digits(text, 3, 2);
  if (!hour || !minute || text[2] != ':' || *hour > 23 || *minute > 59) return std::nullopt;
  double const whole = 3600.0 * *hour + 60.0 * *minute;
  if (text.size() == 5) return whole;
  auto const second = digits(text, 6, 2);
  if (!second || text[5] != ':' || *second > 59) return std::nullopt;
  if (text.size() == 8) return whole + *second;
  auto const fraction = text.substr(8);
  if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 10) return std::nullopt;
  auto const value = digits(fraction, 1, fraction.size() - 1);
  if (!value) return std::nullopt;
  return whole + *second + *value / std::pow(10.0, static_cast<double>(fraction.size() - 1));
}

std::string_view without_padding(std::string_view text) {
  auto const end = text.find_last_not_of(' ');
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

std::optional<log::Level> log_level(std::string_view word) {
  using log::Level;
  for (auto const level : {Level::trace, Level::debug, Level::info, Level::warning, Level::error})
    if (word == log::name(level)) return level;
  return std::nullopt;
}

std::optional<double> parse_utc(std::string_view text) {
  if (!text.empty() && text.back() == 'Z') text.remove_suffix(1);
  auto const year = digits(text, 0, 4);
  auto const month = digits(text, 5, 2);
  auto const day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  std::chrono::year_month_day const date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < 1970) return std::nullopt;
  double const midnight =
      86'400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (text.size() == 10) return midnight;
  if (text[10] != 'T' && text[10] != ' ') return std::nullopt;
  auto const rest = time_of_day(text.substr(11));
  if (!rest) return std::nullopt;
  return midnight + *rest;
}

std::optional<double> parse_since(std::string_view text, double now) {
  if (auto const at = parse_utc(text)) return at;
  if (text.size() < 2) return std::nullopt;
  double unit = 0;
  switch (text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 86'400;
      break;
    default:
      return std::nullopt;
  }
  auto const count = text.substr(0, text.size() - 1);
  auto const value = count.size() <= 9 ? digits(count, 0, count.size()) : std::nullopt;
  if (!value) return std::nullopt;
  return now - unit * *value;
}

std::optional<log::Line> parse_log_line(std::string_view line) {
  constexpr std::size_t kTime = 24;   // 2026-01-31T12:00:00.000Z
  constexpr std::size_t kLevel = 7;   // "warning"
  constexpr std::size_t kModule = 9;  // padded to so many at least
  constexpr std::size_t kHead = kTime + 1 + kLevel + 1;
  if (line.size() < kHead + kModule || line.size() > kMaxLine || line[kTime] != ' ' ||
      line[kTime - 1] != 'Z' || line[kHead - 1] != ' ')
    return std::nullopt;
  auto const time = parse_utc(line.substr(0, kTime));
  auto const level = log_level(without_padding(line.substr(kTime + 1, kLevel)));
  if (!time || !level) return std::nullopt;
  auto const rest = line.substr(kHead);
  auto const end = std::max(rest.find(' '), std::size_t{1});
  if (end == std::string_view::npos) return std::nullopt;
  auto const text = std::max(end, kModule);
  log::Line out;
  out.time = *time;
  out.level = *level;
  out.module = rest.substr(0, end);
  if (text + 1 <= rest.size()) out.text = rest.substr(text + 1);
  return out;
}

std::string format_log_line(log::Line const& line) {
  auto const whole = static_cast<std::time_t>(std::floor(line.time));
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  char time[40];
  std::size_t const size = std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
  char fraction[16];
  int const thousandths =
      std::clamp(static_cast<int>(1000 * (line.time - static_cast<double>(whole)) + 0.5), 0, 999);
  std::snprintf(fraction, sizeof fraction, ".%03dZ", thousandths);
  auto const padded = [](std::string_view text, std::size_t width) {
    std::string out(text);
    if (out.size() < width) out.resize(width, ' ');
    return out;
  };
  return cat(std::string_view(time, size),
             fraction,
             ' ',
             padded(log::name(line.level), 7),
             ' ',
             padded(line.module, 9),
             ' ',
             line.text);
}

struct LogReader::State {
  std::filesystem::path folder;
  Fd file;           // the one being read
  std::string rest;  // of a line that is not whole yet

  std::filesystem::path path(int older) const {
    return folder / (older == 0 ? std::string("waggle.log") : cat("waggle.", older, ".log"));
  }

  static std::optional<std::pair<dev_t, ino_t>> identity(int found, struct stat const& info) {
    if (found != 0) return std::nullopt;
    return std::pair(info.st_dev, info.st_ino);
  }

  // Which of the files, by its present name, the open one is; unset: it was dropped meanwhile.
  std::optional<int> number_of_open() const {
    struct stat open {};

    auto const mine = identity(::fstat(file.get(), &open), open);
    for (int older = 0; mine && older <= kMostOlderFiles; ++older) {
      struct stat other {};

      if (mine == identity(::stat(path(older).c_str(), &other), other)) return older;
    }
    return std::nullopt;
  }

  int oldest() const {
    std::error_code ec;
    int older = 0;
    while (older < kMostOlderFiles && std::filesystem::exists(path(older + 1), ec)) ++older;
    return older;
  }

  Status open(int older) {
    rest.clear();
    file = Fd(::open(path(older).c_str(), O_RDONLY | O_CLOEXEC));
    if (file) return ok();
    return Error{errno == ENOENT ? Errc::not_found : Errc::io,
                 cat("cannot open ", path(older).string(), ": ", std::strerror(errno))};
  }

  Status read_open(std::function<void(log::Line const&)> const& take) {
    char piece[16384];
    for (;;) {
      auto const n = ::read(file.get(), piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{Errc::io, cat("cannot read the log: ", std::strerror(errno))};
      if (n == 0) return ok();
      rest.append(piece, static_cast<std::size_t>(n));
      std::size_t from = 0;
      for (std::size_t end = 0; (end = rest.find('\n', from)) != std::string::npos; from = end + 1)
        if (auto const line = parse_log_line(std::string_view(rest).substr(from, end - from)))
          take(*line);
      rest.erase(0, from);
      if (rest.size() > kMaxLine) rest.resize(kMaxLine + 1);  // too long already; its end is near
    }
  }
};

LogReader::LogReader(std::filesystem::path folder) : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
}

LogReader::~LogReader() = default;

Status LogReader::read(std::function<void(log::Line const&)> const& take) {
  auto& s = *state_;
  if (!s.file) WAGGLE_TRY_STATUS(s.open(s.oldest()));
  for (;;) {
    // Asked before reading: once it is an older one, nobody writes to it any more.
    auto const number = s.number_of_open();
    WAGGLE_TRY_STATUS(s.read_open(take));
    if (number == 0) return ok();
    auto const next = s.open(number ? *number - 1 : s.oldest());
    if (!next && next.error().code == Errc::not_found) return ok();  // between two renames
    WAGGLE_TRY_STATUS(next);
  }
}

}  // namespace waggle::node
