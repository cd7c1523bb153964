// SPDX-License-Identifier: MIT
#include "core/net/kad/id.hpp"

#include <bit>

namespace waggle::net::kad {

Id distance(Id const& a, Id const& b) noexcept {
  Id out;
  for (std::size_t i = 0; i < out.bytes.size(); ++i) out.bytes[i] = a.bytes[i] ^ b.bytes[i];
  return out;
}

int common_prefix_bits(Id const& a, Id const& b) noexcept {
  int bits = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    auto const differing = std::to_integer<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
    bits += std::countl_zero(differing);
    if (differing != 0) break;
  }
  return bits;
}

}  // namespace waggle::net::kad
