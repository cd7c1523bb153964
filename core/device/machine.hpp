// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace waggle::device {

/// Bytes of memory, as /proc/meminfo says: `available` is what can be had without swapping.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;
};

/// Errors: io, malformed. Cost: one small file.
[[nodiscard]] Result<Memory> memory();
/// The parser alone. Errors: malformed.
[[nodiscard]] Result<Memory> parse_meminfo(std::string_view text);

/// Threads that run at once on this machine, at least 1.
[[nodiscard]] unsigned cores() noexcept;

/// Bytes an ordinary user may still write on the volume that holds `path`, or that would once it
/// exists. Errors: io.
[[nodiscard]] Result<std::uint64_t> disk_available(std::filesystem::path const& path);

}  // namespace waggle::device
