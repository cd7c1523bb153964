// SPDX-License-Identifier: MIT
#include "installer/launcher/trailer.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.hpp"

namespace waggle::launcher {
namespace {

constexpr std::string_view kMagic = "waggle-payload 1\n";

/// Takes "<key> <value>\n" off the front of `text`.
std::optional<std::string_view> take(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ' ')
    return std::nullopt;
  auto const end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  auto const value = text.substr(key.size() + 1, end - key.size() - 1);
  text.remove_prefix(end + 1);
  return value;
}

bool read_number(std::string_view text, std::uint64_t& out) {
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end && !text.empty();
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

Result<Trailer> parse_trailer(std::string_view text, std::uint64_t file_size) {
  if (text.size() != kTrailerBytes || !text.starts_with(kMagic))
    return Error{Errc::not_found, "no payload at the end of this file"};
  text.remove_prefix(kMagic.size());
  Trailer trailer;
  auto const size = take(text, "size");
  auto const hash = take(text, "blake2b");
  auto const unpacked = take(text, "unpacked");
  auto const version = take(text, "version");
  if (!size || !hash || !unpacked || !version || !read_number(*size, trailer.size) ||
      !read_number(*unpacked, trailer.unpacked) || hash->size() != 64 || !is_hex(*hash) ||
      text.find_first_not_of('\n') != std::string_view::npos)
    return Error{Errc::malformed, "the end of this file is damaged; fetch it again"};
  if (trailer.size == 0 || file_size < kTrailerBytes || trailer.size > file_size - kTrailerBytes)
    return Error{Errc::malformed,
                 cat("this file should hold a payload of ",
                     trailer.size,
                     " bytes, but has only ",
                     file_size,
                     " in all; fetch it again")};
  if (trailer.unpacked > kMaxUnpacked)
    return Error{Errc::too_large,
                 cat("a payload of ", trailer.unpacked, " bytes, limit ", kMaxUnpacked)};
  trailer.blake2b = *hash;
  trailer.version = *version;
  return trailer;
}

}  // namespace waggle::launcher
