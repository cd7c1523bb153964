// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace waggle::launcher {

/// The last bytes of a single file, as installer/make-single-file writes them: text, so that a
/// script can write it and a person can read it with tail(1).
///
///     waggle-payload 1
///     size 51234567            bytes of the zstd tar just before the trailer
///     blake2b 64 hex digits    BLAKE2b-256 of these bytes
///     unpacked 245366784       bytes of the tar
///     version 0.1.0
///     (line feeds up to kTrailerBytes)
struct Trailer {
  std::uint64_t size = 0;
  std::string blake2b;
  std::uint64_t unpacked = 0;
  std::string version;
};

inline constexpr std::size_t kTrailerBytes = 256;
/// Larger: a broken file could fill a disk. Smaller: a trainer with more in it would not fit.
inline constexpr std::uint64_t kMaxUnpacked = 4ull << 30;

/// `text`: the last kTrailerBytes of the file of `file_size` bytes. Errors: not_found (no trailer:
/// a launcher alone), malformed (a trailer that cannot be true of such a file).
[[nodiscard]] Result<Trailer> parse_trailer(std::string_view text, std::uint64_t file_size);

}  // namespace waggle::launcher
