// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle {

/// A libp2p peer id: the raw multihash bytes of a public key, held inline. An empty one means
/// "nobody". Its text forms live in core/crypto/peer_id.hpp. Ordered by raw bytes.
class PeerId {
 public:
  static constexpr std::size_t kMaxSize =
      42;  ///< identity multihash of a 40-byte key; Ed25519 takes 38

  PeerId() = default;

  /// Nothing if `multihash` is longer than kMaxSize or empty. Does not check the hash function
  /// code.
  [[nodiscard]] static std::optional<PeerId> from_bytes(ByteView multihash) noexcept {
    if (multihash.empty() || multihash.size() > kMaxSize) return std::nullopt;
    PeerId id;
    id.size_ = static_cast<std::uint8_t>(multihash.size());
    std::memcpy(id.bytes_.data(), multihash.data(), multihash.size());
    return id;
  }

  [[nodiscard]] ByteView bytes() const noexcept { return ByteView(bytes_).first(size_); }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  friend bool operator==(PeerId const& a, PeerId const& b) noexcept {
    return equal(a.bytes(), b.bytes());
  }

  friend std::strong_ordering operator<=>(PeerId const& a, PeerId const& b) noexcept {
    if (a == b) return std::strong_ordering::equal;
    return less(a.bytes(), b.bytes()) ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  std::array<std::byte, kMaxSize> bytes_{};
  std::uint8_t size_ = 0;
};

}  // namespace waggle

template <>
struct std::hash<waggle::PeerId> {
  std::size_t operator()(waggle::PeerId const& id) const noexcept {
    return std::hash<std::string_view>{}(waggle::as_text(id.bytes()));
  }
};
