// SPDX-License-Identifier: MIT
#include "core/wire/varint.hpp"

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("varint") {
  TEST_CASE("every power of two and its neighbours go both ways in the least bytes") {
    for (unsigned bit = 0; bit < 63; ++bit) {
      for (auto const value : {(std::uint64_t{1} << bit) - 1,
                               std::uint64_t{1} << bit,
                               (std::uint64_t{1} << bit) + 1}) {
        Bytes out{std::byte{0xaa}};
        wire::append_varint(out, value);
        CHECK(out.size() == 1 + wire::varint_size(value));
        out.push_back(std::byte{0xff});  // what follows is not read
        auto const read = wire::read_varint(ByteView(out).subspan(1));
        REQUIRE(read);
        CHECK(read->first == value);
        CHECK(read->second == out.size() - 2);
      }
    }
    CHECK(wire::varint_size((std::uint64_t{1} << 63) - 1) == wire::kMaxVarintBytes);
  }

  TEST_CASE("a number cut anywhere says closed, so that a reader waits for more") {
    Bytes out;
    wire::append_varint(out, (std::uint64_t{1} << 63) - 1);
    for (std::size_t n = 0; n < out.size(); ++n)
      CHECK(wire::read_varint(ByteView(out).first(n)).error().code == Errc::closed);
  }

  TEST_CASE("ten bytes and padded forms are malformed") {
    Bytes nine(9, std::byte{0x80});
    CHECK(wire::read_varint(nine).error().code == Errc::malformed);
    nine.push_back(std::byte{1});
    CHECK(wire::read_varint(nine).error().code == Errc::malformed);
    for (auto const* hex : {"8000", "ff00", "ffff00", "808080808080808000"})
      CHECK(wire::read_varint(*from_hex(hex)).error().code == Errc::malformed);
  }
}
