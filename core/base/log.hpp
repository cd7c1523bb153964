// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.hpp"

namespace waggle::log {

enum class Level : std::uint8_t { trace, debug, info, warning, error };

/// Where lines go, and from which level on.
struct Settings {
  Level to_stderr = Level::warning;
  Level kept = Level::info;             ///< in the file and in recent()
  std::string file;                     ///< empty: none; its folder is there
  std::uint64_t file_bytes = 8u << 20;  ///< a full file becomes FILE.1.log
  std::uint32_t older_files = 3;        ///< so many are kept beside the newest
};

/// Called once by main, before other threads exist; until then only warnings go to stderr. A file
/// that cannot be opened is done without, with a warning.
void start(Settings const& settings);
/// Everything at or above `level` to stderr and, if `file` is not empty, to that file.
void start(Level level, std::string const& file);
[[nodiscard]] bool enabled(Level level) noexcept;
/// Thread: any. `module` is the folder's name: "net", "dht". One call is one line, whatever `text`
/// holds: control characters, which may come from a stranger, are written as \xNN, and what is
/// beyond kMaxText bytes is cut.
void write(Level level, std::string_view module, std::string_view text);

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kLinesKept = 2000;  ///< in memory

struct Line {
  std::uint64_t number = 0;  ///< from 1 on, without gaps, while the program runs
  double time = 0;           ///< Unix seconds
  Level level = Level::info;
  std::string module;
  std::string text;
};

/// Lines kept in memory whose number is above `after`, oldest first; the newest `most` of them.
/// Thread: any.
[[nodiscard]] std::vector<Line> recent(std::uint64_t after, std::size_t most = kLinesKept);

/// "trace" to "error", as the file and the API write it.
[[nodiscard]] std::string_view name(Level level) noexcept;
/// `text` with every control character as \xNN, cut to kMaxText bytes between two characters.
[[nodiscard]] std::string one_line(std::string_view text);

/// log::info("net", "dialled ", address, " in ", ms, " ms"): the parts are joined only if the level
/// is on.
template <class... Parts>
void debug(std::string_view module, Parts const&... parts) {
  if (enabled(Level::debug)) write(Level::debug, module, cat(parts...));
}

template <class... Parts>
void info(std::string_view module, Parts const&... parts) {
  if (enabled(Level::info)) write(Level::info, module, cat(parts...));
}

template <class... Parts>
void warning(std::string_view module, Parts const&... parts) {
  if (enabled(Level::warning)) write(Level::warning, module, cat(parts...));
}

template <class... Parts>
void error(std::string_view module, Parts const&... parts) {
  if (enabled(Level::error)) write(Level::error, module, cat(parts...));
}

}  // namespace waggle::log
