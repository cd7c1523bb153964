// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/bytes.hpp"
#include "core/crypto/keys.hpp"

namespace waggle::crypto::detail {

/// libp2p's PublicKey and PrivateKey messages, which have one shape: 1 = type (varint), 2 = data
/// (bytes). By hand rather than by protobuf, because half of them are secrets that no library
/// wipes.
struct KeyMessage {
  KeyType type;
  ByteView data;  ///< into what was parsed

  /// Unknown fields are skipped, the last value of a field counts. Errors: malformed.
  [[nodiscard]] static Result<KeyMessage> parse(ByteView serialized);
};

/// Both fields, always, in order: peer ids are hashes of these bytes.
[[nodiscard]] Bytes write_key_message(KeyType type, ByteView data);

}  // namespace waggle::crypto::detail
