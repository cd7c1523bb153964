// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/bytes.hpp"

namespace waggle::wire {

constexpr std::size_t kMaxVarintBytes = 9;  ///< 63 bits, as multiformats say

/// Appends an unsigned LEB128 varint, shortest form. `value` < 2^63.
void append_varint(Bytes& out, std::uint64_t value);
[[nodiscard]] std::size_t varint_size(std::uint64_t value) noexcept;

/// A value and how many bytes it took. Errors: malformed (longer than 9 bytes, not the shortest
/// form), closed (`in` ends inside it: read more).
[[nodiscard]] Result<std::pair<std::uint64_t, std::size_t>> read_varint(ByteView in);

}  // namespace waggle::wire
