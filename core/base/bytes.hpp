// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace waggle {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<std::byte const>;
using MutableBytes = std::span<std::byte>;

/// The same memory, seen as bytes. No copy.
[[nodiscard]] inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<std::byte const*>(text.data()), text.size()};
}

/// The same memory, seen as text. No copy, no check of the encoding.
[[nodiscard]] inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline std::uint8_t const* as_u8(ByteView bytes) noexcept {
  return reinterpret_cast<std::uint8_t const*>(bytes.data());
}

[[nodiscard]] inline std::uint8_t* as_u8(MutableBytes bytes) noexcept {
  return reinterpret_cast<std::uint8_t*>(bytes.data());
}

[[nodiscard]] inline Bytes to_bytes(ByteView view) {
  return {view.begin(), view.end()};
}

[[nodiscard]] inline Bytes to_bytes(std::string_view text) {
  return to_bytes(as_bytes(text));
}

[[nodiscard]] inline std::string to_string(ByteView bytes) {
  return std::string(as_text(bytes));
}

inline void append(Bytes& out, ByteView more) {
  out.insert(out.end(), more.begin(), more.end());
}

[[nodiscard]] inline bool equal(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Bytewise order, a shorter prefix first; the order of hivemind's bytes and of std::string.
[[nodiscard]] bool less(ByteView a, ByteView b) noexcept;

/// Lower-case hex, two letters a byte.
[[nodiscard]] std::string to_hex(ByteView bytes);
/// Errors: malformed (odd length, not a hex digit).
[[nodiscard]] Result<Bytes> from_hex(std::string_view hex);

/// Writes `value` big-endian to the front of `out`, which must hold sizeof(value) bytes.
template <std::unsigned_integral T>
void store_be(MutableBytes out, T value) noexcept {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
}

template <std::unsigned_integral T>
[[nodiscard]] T load_be(ByteView in) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>((sizeof(T) == 1 ? T{0} : static_cast<T>(value << 8)) |
                           std::to_integer<T>(in[i]));
  return value;
}

/// Little-endian of any trivially copyable scalar; the machine must be little-endian (checked at
/// compile time).
static_assert(std::endian::native == std::endian::little, "codec payloads are read in place");

template <class T>
requires std::is_trivially_copyable_v<T>

void store_le(MutableBytes out, T value) noexcept {
  std::memcpy(out.data(), &value, sizeof value);
}

template <class T>
requires std::is_trivially_copyable_v<T>

[[nodiscard]] T load_le(ByteView in) noexcept {
  T value;
  std::memcpy(&value, in.data(), sizeof value);
  return value;
}

}  // namespace waggle
