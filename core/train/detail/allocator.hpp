// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace waggle::train::detail {

/// Replaces torch's CPU allocator by one that throws std::bad_alloc above `limit` bytes: the
/// micro-batch can then be halved in the same process, where rlimits crash it. Counts tensors only.
void install_capped_allocator(std::uint64_t limit);
/// Bytes that tensors hold now.
[[nodiscard]] std::uint64_t allocated_bytes() noexcept;

}  // namespace waggle::train::detail
