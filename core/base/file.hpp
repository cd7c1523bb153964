// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/bytes.hpp"

namespace waggle {

/// Reads a whole file. Errors: not_found, too_large (above `limit` bytes), io. Every error names
/// the path.
[[nodiscard]] Result<Bytes> read_file(std::filesystem::path const& path, std::uint64_t limit);

enum class FileMode : std::uint16_t { secret = 0600, shared = 0644 };

/// Replaces a file as a whole: temporary file beside it, fsync, rename, fsync of the folder. After
/// a power cut either the old or the new content is there. Errors: io (with path, errno text).
[[nodiscard]] Status write_file(std::filesystem::path const& path, ByteView content, FileMode mode);

}  // namespace waggle
