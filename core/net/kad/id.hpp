// SPDX-License-Identifier: MIT
#pragma once

#include <compare>

#include "core/base/ids.hpp"
#include "core/crypto/hash.hpp"

namespace waggle::net::kad {

/// A point of the libp2p Kad-DHT's 256-bit space: the SHA-256 of a PeerID's (or any key's) bytes.
/// Not hivemind's 160-bit DHTID. Source: spec/libp2p.md section 17.
struct Id {
  crypto::Sha256 bytes{};

  [[nodiscard]] static Id of(ByteView key) { return {crypto::sha256(key)}; }

  [[nodiscard]] static Id of(PeerId const& peer) { return of(peer.bytes()); }

  friend bool operator==(Id const&, Id const&) = default;
  friend auto operator<=>(Id const&, Id const&) = default;
};

/// XOR, as a big-endian number: its order is the order of closeness.
[[nodiscard]] Id distance(Id const& a, Id const& b) noexcept;
/// 0 to 256.
[[nodiscard]] int common_prefix_bits(Id const& a, Id const& b) noexcept;

}  // namespace waggle::net::kad
