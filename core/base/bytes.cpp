// SPDX-License-Identifier: MIT
#include "core/base/bytes.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace waggle {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool less(ByteView a, ByteView b) noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

std::string to_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (auto const b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

Result<Bytes> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0)
    return Error{Errc::malformed, cat("hex text of odd length ", hex.size())};
  Bytes out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    int const high = hex_digit(hex[i]);
    int const low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0)
      return Error{Errc::malformed, cat("not a hex digit near position ", i)};
    out.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return out;
}

}  // namespace waggle
