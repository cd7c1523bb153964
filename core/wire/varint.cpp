// SPDX-License-Identifier: MIT
#include "core/wire/varint.hpp"

#include <algorithm>
#include <bit>

#include "core/base/assert.hpp"

namespace waggle::wire {

void append_varint(Bytes& out, std::uint64_t value) {
  WAGGLE_ASSERT(value >> 63 == 0, "a varint holds 63 bits, not ", value);
  while (value >= 0x80) {
    out.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::byte>(value));
}

std::size_t varint_size(std::uint64_t value) noexcept {
  auto const bits = static_cast<std::size_t>(std::bit_width(value));
  return std::max<std::size_t>(1, (bits + 6) / 7);
}

Result<std::pair<std::uint64_t, std::size_t>> read_varint(ByteView in) {
  std::uint64_t value = 0;
  auto const end = std::min(in.size(), kMaxVarintBytes);
  for (std::size_t i = 0; i < end; ++i) {
    auto const byte = std::to_integer<std::uint64_t>(in[i]);
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i > 0) return Error{Errc::malformed, "varint is not in its shortest form"};
    return std::pair{value, i + 1};
  }
  if (in.size() < kMaxVarintBytes) return Error{Errc::closed, "varint is cut off"};
  return Error{Errc::malformed, "varint is longer than 9 bytes"};
}

}  // namespace waggle::wire
