// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace waggle {

/// Whether `c` goes on with a UTF-8 character that an earlier byte began.
[[nodiscard]] constexpr bool utf8_continues(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The longest beginning of `text` of at most `most` bytes that does not end inside a character.
/// Of bytes that are no UTF-8 it promises only the bound.
[[nodiscard]] constexpr std::string_view utf8_prefix(std::string_view text,
                                                     std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && utf8_continues(text[most])) --most;
  return text.substr(0, most);
}

/// Where the character after the one at `at` begins; the end of `text`, if there is none.
[[nodiscard]] constexpr std::size_t utf8_next(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return text.size();
  ++at;
  while (at < text.size() && utf8_continues(text[at])) ++at;
  return at;
}

}  // namespace waggle
