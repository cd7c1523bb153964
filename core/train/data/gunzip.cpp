// SPDX-License-Identifier: MIT
#include "core/train/data/gunzip.hpp"

#include <algorithm>
#include <limits>

#include <zlib.h>

#include "core/base/text.hpp"

namespace waggle::train {
namespace {

struct Inflater {
  z_stream stream{};

  Inflater() { good = inflateInit2(&stream, 15 + 16) == Z_OK; }

  ~Inflater() {
    if (good) inflateEnd(&stream);
  }

  Inflater(Inflater const&) = delete;
  Inflater& operator=(Inflater const&) = delete;
  bool good = false;
};

}  // namespace

bool is_gzip(ByteView bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Result<Bytes> gunzip(ByteView bytes, std::uint64_t limit) {
  if (!is_gzip(bytes)) {
    if (bytes.size() > limit)
      return Error{Errc::too_large, cat(bytes.size(), " bytes, limit ", limit)};
    return to_bytes(bytes);
  }
  Inflater inflater;
  if (!inflater.good) return Error{Errc::too_large, "zlib has no memory"};
  auto& z = inflater.stream;
  Bytes out;
  std::size_t used = 0;
  constexpr std::size_t kStep = 1u << 30;  // zlib counts in 32 bits
  for (;;) {
    auto const chunk = std::min(bytes.size() - used, kStep);
    z.next_in = const_cast<Bytef*>(as_u8(bytes.subspan(used)));
    z.avail_in = static_cast<uInt>(chunk);
    int status = Z_OK;
    while (status == Z_OK && (z.avail_in > 0 || z.avail_out == 0)) {
      // Growing by what came so far keeps the memory within a small multiple of the real output.
      auto const have = out.size();
      if (have >= limit + 1)
        return Error{Errc::too_large, cat("unpacks to more than ", limit, " bytes")};
      auto const room = std::min<std::uint64_t>(std::clamp<std::size_t>(have, 64 * 1024, kStep),
                                                limit + 1 - have);
      out.resize(have + room);
      z.next_out = as_u8(MutableBytes(out).subspan(have));
      z.avail_out = static_cast<uInt>(room);
      status = inflate(&z, Z_NO_FLUSH);
      out.resize(have + room - z.avail_out);
      if (status == Z_BUF_ERROR) status = Z_OK;
    }
    used += chunk - z.avail_in;
    if (status == Z_STREAM_END) {
      if (!is_gzip(bytes.subspan(used))) break;  // padding after the last member is allowed
      if (inflateReset(&z) != Z_OK) return Error{Errc::malformed, "gzip member"};
      continue;
    }
    if (status != Z_OK) return Error{Errc::malformed, cat("gzip data broken near byte ", used)};
    if (used == bytes.size()) return Error{Errc::malformed, "gzip data ends too early"};
  }
  if (out.size() > limit)
    return Error{Errc::too_large, cat("unpacks to more than ", limit, " bytes")};
  return out;
}

}  // namespace waggle::train
