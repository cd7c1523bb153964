// SPDX-License-Identifier: MIT
#include "core/base/log.hpp"

#include <memory>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace waggle::log {
namespace {

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

std::shared_ptr<spdlog::logger> make(Level level, std::vector<spdlog::sink_ptr> sinks) {
  auto made = std::make_shared<spdlog::logger>("waggle", sinks.begin(), sinks.end());
  made->set_level(to_spdlog(level));
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc);
  made->flush_on(spdlog::level::warn);
  return made;
}

// Replaced by start() before other threads exist; read without a lock after that.
std::shared_ptr<spdlog::logger>& current() {
  static std::shared_ptr<spdlog::logger> logger =
      make(Level::warning, {std::make_shared<spdlog::sinks::stderr_sink_mt>()});
  return logger;
}

}  // namespace

void start(Level level, std::string const& file) {
  constexpr std::size_t kFileBytes = 8u << 20;
  constexpr std::size_t kFilesKept = 3;
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  if (!file.empty())
    sinks.push_back(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kFileBytes, kFilesKept));
  current() = make(level, std::move(sinks));
}

bool enabled(Level level) noexcept {
  return current()->should_log(to_spdlog(level));
}

void write(Level level, std::string_view module, std::string_view text) {
  current()->log(to_spdlog(level), "{:<9} {}", module, text);
}

}  // namespace waggle::log
