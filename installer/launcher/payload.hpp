// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/result.hpp"

#include "installer/launcher/trailer.hpp"

namespace waggle::launcher {

/// The trailer of the single file that `file` is open on. Errors: as parse_trailer; io.
[[nodiscard]] Result<Trailer> read_trailer(int file);

/// Errors: bad_signature where the payload's BLAKE2b-256 is not the trailer's; io.
/// Cost: one pass over the payload, about 0.1 s for 50 MB.
[[nodiscard]] Status verify_payload(int file, Trailer const& trailer);

/// Unpacks a verified payload below `root`, an empty folder. Errors: malformed, too_large, io.
/// Cost: 128 MiB of memory for zstd's long window.
[[nodiscard]] Status unpack_payload(int file, Trailer const& trailer, int root);

}  // namespace waggle::launcher
