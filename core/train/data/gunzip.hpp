// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"

namespace waggle::train {

/// Whether `bytes` begin as a gzip member does.
[[nodiscard]] bool is_gzip(ByteView bytes) noexcept;

/// Unpacks gzip (all members), or copies what is not gzip. At most `limit` bytes come out.
/// Errors: malformed (broken or cut off), too_large.
[[nodiscard]] Result<Bytes> gunzip(ByteView bytes, std::uint64_t limit);

}  // namespace waggle::train
