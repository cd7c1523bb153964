// SPDX-License-Identifier: MIT
#include "installer/launcher/payload.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <sodium/crypto_generichash.h>
#include <sodium/utils.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/text.hpp"

#include "installer/launcher/tar.hpp"

namespace waggle::launcher {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr int kWindowLog = 27;  // what make-single-file's zstd --long=27 asks of us

Result<std::uint64_t> size_of(int file) {
  struct stat facts {};

  if (::fstat(file, &facts) != 0) return Error{Errc::io, std::strerror(errno)};
  return static_cast<std::uint64_t>(facts.st_size);
}

Status read_at(int file, char* out, std::size_t size, std::uint64_t at) {
  while (size > 0) {
    auto const got = ::pread(file, out, size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{Errc::io, cat("reading this file: ", std::strerror(errno))};
    if (got == 0) return Error{Errc::io, "this file became shorter while it was read"};
    out += got;
    size -= static_cast<std::size_t>(got);
    at += static_cast<std::uint64_t>(got);
  }
  return ok();
}

/// Hands the payload to `take` in chunks, in order.
Status each_chunk(int file,
                  Trailer const& trailer,
                  std::function<Status(std::span<char const>)> const& take) {
  WAGGLE_TRY(auto const file_size, size_of(file));
  auto at = file_size - kTrailerBytes - trailer.size;
  auto left = trailer.size;
  std::vector<char> buffer(kChunk);
  while (left > 0) {
    auto const size = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
    WAGGLE_TRY_STATUS(read_at(file, buffer.data(), size, at));
    WAGGLE_TRY_STATUS(take({buffer.data(), size}));
    at += size;
    left -= size;
  }
  return ok();
}

}  // namespace

Result<Trailer> read_trailer(int file) {
  WAGGLE_TRY(auto const size, size_of(file));
  if (size < kTrailerBytes) return Error{Errc::not_found, "no payload in so short a file"};
  std::string text(kTrailerBytes, '\0');
  WAGGLE_TRY_STATUS(read_at(file, text.data(), text.size(), size - kTrailerBytes));
  return parse_trailer(text, size);
}

Status verify_payload(int file, Trailer const& trailer) {
  crypto_generichash_state state;
  unsigned char hash[crypto_generichash_BYTES];
  crypto_generichash_init(&state, nullptr, 0, sizeof hash);
  WAGGLE_TRY_STATUS(each_chunk(file, trailer, [&state](std::span<char const> bytes) {
    crypto_generichash_update(
        &state, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
    return ok();
  }));
  crypto_generichash_final(&state, hash, sizeof hash);
  char hex[2 * sizeof hash + 1];
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  if (trailer.blake2b != hex)
    return Error{
        Errc::bad_signature,
        "this file is damaged: its payload is not the one that was packed. Fetch it again"};
  return ok();
}

Status unpack_payload(int file, Trailer const& trailer, int root) {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> const zstd(ZSTD_createDCtx(),
                                                                  &ZSTD_freeDCtx);
  if (!zstd) return Error{Errc::io, "no memory to unpack"};
  ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kWindowLog);
  TarWriter tar(root, trailer.unpacked);
  std::vector<char> out(kChunk);
  std::size_t state = 1;
  WAGGLE_TRY_STATUS(each_chunk(file, trailer, [&](std::span<char const> bytes) -> Status {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    bool more = true;
    while (more) {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      state = ZSTD_decompressStream(zstd.get(), &output, &input);
      if (ZSTD_isError(state) != 0)
        return Error{Errc::malformed, cat("unpacking: ", ZSTD_getErrorName(state))};
      WAGGLE_TRY_STATUS(tar.feed({out.data(), output.pos}));
      more = input.pos < input.size || output.pos == output.size;
    }
    return ok();
  }));
  if (state != 0) return Error{Errc::malformed, "unpacking: the payload ends too early"};
  return tar.finish();
}

}  // namespace waggle::launcher
