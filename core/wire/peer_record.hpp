// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.hpp"
#include "core/crypto/keys.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::wire {

/// Where a peer says it can be reached, signed by itself, as identify carries it.
/// Source: spec/libp2p.md section 12.
struct PeerRecord {
  /// Larger: a stranger fills the peer book with one message. Smaller: a peer with many interfaces
  /// is cut.
  static constexpr std::size_t kMaxAddresses = 64;

  PeerId id;
  std::uint64_t seq = 0;  ///< grows with every record of this peer
  std::vector<Multiaddr> addresses;

  /// The record in an envelope signed by `identity`, whose peer id replaces `id`.
  [[nodiscard]] Bytes seal(crypto::Identity const& identity) const;
  /// Addresses that do not parse are left out, and those beyond kMaxAddresses too.
  /// Errors: malformed, bad_signature (also: signed by another peer than it names), refused.
  [[nodiscard]] static Result<PeerRecord> open(ByteView envelope);
};

}  // namespace waggle::wire
