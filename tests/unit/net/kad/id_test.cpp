// SPDX-License-Identifier: MIT
#include "core/net/kad/id.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net;

TEST_CASE("distance is a metric and the prefix counts its leading zeros") {
  auto const a = kad::Id::of(as_bytes("a"));
  auto const b = kad::Id::of(as_bytes("b"));
  CHECK(kad::distance(a, a) == kad::Id{});
  CHECK(kad::distance(a, b) == kad::distance(b, a));
  CHECK(kad::common_prefix_bits(a, a) == 256);
  for (int bit = 0; bit < 256; ++bit) {
    auto c = a;
    c.bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::byte>(0x80 >> bit % 8);
    CHECK(kad::common_prefix_bits(a, c) == bit);
  }
}
