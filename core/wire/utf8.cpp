// SPDX-License-Identifier: MIT
#include "core/wire/utf8.hpp"

#include <cstddef>

namespace waggle::wire {
namespace {

unsigned char at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

// Bytes of the sequence that starts at `i`, 0 if it is no well-formed one. Only the second byte's
// range depends on the first: that is where overlong forms, surrogates and too large values differ.
std::size_t sequence_length(std::string_view text, std::size_t i) noexcept {
  auto const first = at(text, i);
  if (first < 0x80) return 1;
  std::size_t const length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() - i < length) return 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  if (at(text, i + 1) < low || at(text, i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k)
    if ((at(text, i + k) & 0xc0) != 0x80) return 0;
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    auto const length = sequence_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace waggle::wire
