// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/text.hpp"

namespace waggle::log {

enum class Level : std::uint8_t { trace, debug, info, warning, error };

/// Sends everything at or above `level` to stderr and, if `file` is not empty, to that file
/// (rotated at 8 MiB, three kept). Called once by main; before that only warnings go to stderr.
void start(Level level, std::string const& file);
[[nodiscard]] bool enabled(Level level) noexcept;
/// Thread: any. `module` is the folder's name: "net", "dht".
void write(Level level, std::string_view module, std::string_view text);

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
