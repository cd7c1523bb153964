// SPDX-License-Identifier: MIT
#include "core/base/log.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/base/utf8.hpp"

namespace waggle::log {
namespace {

constexpr std::array<std::string_view, 5> kNames{"trace", "debug", "info", "warning", "error"};

spdlog::level::level_enum to_spdlog(Level level) noexcept {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

/// The newest lines, for those who ask the running program.
class Kept {
 public:
  void add(Line line) {
    std::lock_guard const lock(mutex_);
    line.number = ++last_;
    lines_.push_back(std::move(line));
    if (lines_.size() > kLinesKept) lines_.pop_front();
  }

  std::vector<Line> after(std::uint64_t number, std::size_t most) const {
    std::lock_guard const lock(mutex_);
    // Numbers have no gaps, so those wanted are the last so many.
    std::uint64_t const newer = last_ > number ? last_ - number : 0;
    std::size_t const wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>({newer, lines_.size(), most}));
    return {lines_.end() - static_cast<std::ptrdiff_t>(wanted), lines_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Line> lines_;  // guarded by mutex_
  std::uint64_t last_ = 0;  // guarded by mutex_
};

// Never destroyed, as the sinks: a thread that hung in a driver may still have something to say.
Kept& kept() {
  static auto& lines = *new Kept;
  return lines;
}

struct Sinks {
  std::shared_ptr<spdlog::logger> logger;
  Level kept = Level::info;
};

std::shared_ptr<spdlog::logger> make(Level level, std::vector<spdlog::sink_ptr> sinks) {
  auto made = std::make_shared<spdlog::logger>("waggle", sinks.begin(), sinks.end());
  made->set_level(to_spdlog(level));
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc);
  // Whoever follows the file sees what happens at once; lines of debugging come in larger pieces.
  made->flush_on(spdlog::level::info);
  // A full disk must not fill stderr with complaints about the log.
  made->set_error_handler([](std::string const&) {});
  return made;
}

// Replaced by start() before other threads exist; read without a lock after that.
Sinks& current() {
  static auto& sinks = *new Sinks{
      make(Level::warning, {std::make_shared<spdlog::sinks::stderr_sink_mt>()}), Level::warning};
  return sinks;
}

bool is_control(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

void start(Settings const& settings) {
  auto to_stderr = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  to_stderr->set_level(to_spdlog(settings.to_stderr));
  std::vector<spdlog::sink_ptr> sinks{std::move(to_stderr)};
  std::string trouble;
  if (!settings.file.empty()) try {
      auto file = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          settings.file, settings.file_bytes, settings.older_files);
      file->set_level(to_spdlog(settings.kept));
      sinks.push_back(std::move(file));
    } catch (spdlog::spdlog_ex const& failure) {
      trouble = failure.what();
    }
  current() = {make(std::min(settings.to_stderr, settings.kept), std::move(sinks)), settings.kept};
  if (!trouble.empty()) warning("base", "no log file: ", trouble);
}

void start(Level level, std::string const& file) {
  start(Settings{.to_stderr = level, .kept = level, .file = file});
}

bool enabled(Level level) noexcept {
  return current().logger->should_log(to_spdlog(level));
}

void write(Level level, std::string_view module, std::string_view text) {
  auto line = one_line(text);
  current().logger->log(to_spdlog(level), "{:<9} {}", module, line);
  if (level < current().kept) return;
  auto const since_1970 = spdlog::log_clock::now().time_since_epoch();
  kept().add({.time = std::chrono::duration<double>(since_1970).count(),
              .level = level,
              .module = std::string(module),
              .text = std::move(line)});
}

std::vector<Line> recent(std::uint64_t after, std::size_t most) {
  return kept().after(after, most);
}

std::string_view name(Level level) noexcept {
  return kNames[static_cast<std::size_t>(level)];
}

std::string one_line(std::string_view text) {
  bool const cut = text.size() > kMaxText;
  text = utf8_prefix(text, kMaxText);
  std::string out;
  out.reserve(text.size() + 4);
  constexpr char kDigits[] = "0123456789abcdef";
  for (char const c : text) {
    if (!is_control(c)) {
      out += c;
      continue;
    }
    auto const byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  if (cut) out += "…";
  return out;
}

}  // namespace waggle::log
