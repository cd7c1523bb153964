// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "core/base/bytes.hpp"
#include "core/crypto/keys.hpp"

namespace waggle::wire {

/// libp2p's signed envelope (RFC 0002): a payload, its type, the signer's key and a signature over
/// domain, type and payload. Source: spec/libp2p.md section 12.
struct Envelope {
  /// Larger: more to hash before a stranger's signature fails. Task records are the largest that we
  /// sign.
  static constexpr std::size_t kMaxBytes = 2u << 20;

  crypto::PublicKey signer;
  Bytes payload_type;
  Bytes payload;

  [[nodiscard]] static Bytes seal(crypto::Identity const& identity,
                                  std::string_view domain,
                                  ByteView payload_type,
                                  ByteView payload);
  /// Errors: malformed, bad_signature, refused (another payload type than asked for).
  [[nodiscard]] static Result<Envelope> open(ByteView serialized,
                                             std::string_view domain,
                                             ByteView payload_type);
};

}  // namespace waggle::wire
