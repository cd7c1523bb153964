// SPDX-License-Identifier: MIT
#include "core/node/report/tar.hpp"

#include <cstdio>
#include <cstring>

#include <zlib.h>

#include "core/base/assert.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kBlock = 512;

// One header of POSIX ustar; numbers are octal text.
std::string header(ArchiveFile const& file, std::uint64_t time) {
  WAGGLE_ASSERT(file.name.size() <= 100, "a name in an archive is too long");
  std::string block(kBlock, '\0');
  auto const put = [&](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  auto const octal = [&](std::size_t at, int digits, std::uint64_t value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%0*llo", digits, static_cast<unsigned long long>(value));
    put(at, buffer);
  };
  put(0, file.name);
  octal(100, 7, 0600);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, file.content.size());
  octal(136, 11, time);
  put(148, "        ");  // the sum is made as if these were spaces
  block[156] = '0';
  put(257,
      std::string_view("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (char const c : block) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  block[154] = '\0';
  return block;
}

}  // namespace

std::string tar(std::vector<ArchiveFile> const& files, std::uint64_t time) {
  std::string out;
  for (auto const& file : files) {
    out += header(file, time);
    out += file.content;
    out.resize((out.size() + kBlock - 1) / kBlock * kBlock, '\0');
  }
  out.append(2 * kBlock, '\0');
  return out;
}

Result<std::string> gzip(std::string_view content) {
  constexpr int kGzip = 15 + 16;  // window bits, and the flag that asks for gzip
  z_stream stream{};
  if (::deflateInit2(&stream, 9, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{Errc::too_large, "no memory to compress with"};
  std::string out(::deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int const done = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  WAGGLE_ASSERT(done == Z_STREAM_END, "deflateBound() was too small");
  return out;
}

}  // namespace waggle::node
