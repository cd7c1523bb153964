// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::dht {

/// A point of hivemind's 160-bit key space. Distance is XOR, compared big-endian.
struct Id {
  static constexpr std::size_t kBytes = 20;
  std::array<std::byte, kBytes> bytes{};

  /// SHA-1 of the msgpack encoding of the text: how hivemind places a string key.
  [[nodiscard]] static Id of_text(std::string_view key);
  /// SHA-1 of raw bytes (a key that is already encoded).
  [[nodiscard]] static Id of_bytes(ByteView encoded);
  /// Nothing unless exactly 20 bytes.
  [[nodiscard]] static std::optional<Id> from_bytes(ByteView raw) noexcept;
  /// As hivemind reads an id off the wire: a big-endian number, shorter input padded with zeros on
  /// the left, empty input zero. Nothing if it does not fit 160 bits. Source: spec/hivemind-dht.md
  /// section 9.2.
  [[nodiscard]] static std::optional<Id> from_wire(ByteView raw) noexcept;

  /// Bit `i`, counted from the most significant one.
  [[nodiscard]] bool bit(std::size_t i) const noexcept {
    return (std::to_integer<unsigned>(bytes[i / 8]) >> (7 - i % 8) & 1u) != 0;
  }

  friend auto operator<=>(Id const&, Id const&) = default;
};

[[nodiscard]] inline Id distance(Id const& a, Id const& b) noexcept {
  Id d;
  for (std::size_t i = 0; i < Id::kBytes; ++i) d.bytes[i] = a.bytes[i] ^ b.bytes[i];
  return d;
}

}  // namespace waggle::dht
