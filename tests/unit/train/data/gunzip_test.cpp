// SPDX-License-Identifier: MIT
#include "core/train/data/gunzip.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

namespace waggle::train {
namespace {

Bytes gzip(ByteView in) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes out(deflateBound(&z, static_cast<uLong>(in.size())));
  z.next_in = const_cast<Bytef*>(as_u8(in));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = as_u8(MutableBytes(out));
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

TEST_CASE("gunzip, unpacks what gzip packed, of any size, also several members") {
  for (std::size_t const size :
       {std::size_t{0}, std::size_t{1}, std::size_t{70'000}, std::size_t{1} << 20}) {
    Bytes plain(size);
    for (std::size_t i = 0; i < size; ++i) plain[i] = static_cast<std::byte>(i * 7 + i / 300);
    auto const packed = gzip(plain);
    auto const back = gunzip(packed, size);
    REQUIRE(back);
    CHECK(*back == plain);
    auto twice = packed;
    append(twice, packed);
    auto const both = gunzip(twice, 2 * size);
    REQUIRE(both);
    CHECK(both->size() == 2 * size);
  }
  CHECK(*gunzip(to_bytes("plain"), 5) == to_bytes("plain"));
}

TEST_CASE("gunzip, stops at its limit and at broken data") {
  Bytes const zeros(1 << 20);
  auto const bomb = gzip(zeros);
  auto const large = gunzip(bomb, 1000);
  REQUIRE(!large);
  CHECK(large.error().code == Errc::too_large);
  CHECK(!gunzip(zeros, 1000));
  for (std::size_t n = 2; n < bomb.size(); n += 37)
    CHECK(!gunzip(ByteView(bomb).first(n), 2 << 20));
  auto broken = gzip(to_bytes("some text that is long enough to be broken in the middle"));
  broken[broken.size() / 2] ^= std::byte{0x55};
  CHECK(!gunzip(broken, 1000));
}

}  // namespace
}  // namespace waggle::train
