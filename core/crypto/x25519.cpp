// SPDX-License-Identifier: MIT
#include "core/crypto/x25519.hpp"

#include <sodium.h>

namespace waggle::crypto {

X25519Key x25519_public(X25519Key const& secret) {
  X25519Key out{};
  (void)crypto_scalarmult_base(as_u8(MutableBytes(out)), as_u8(ByteView(secret)));
  return out;
}

std::optional<X25519Key> x25519(X25519Key const& secret, X25519Key const& their_public) {
  X25519Key out{};
  if (crypto_scalarmult(
          as_u8(MutableBytes(out)), as_u8(ByteView(secret)), as_u8(ByteView(their_public))) != 0)
    return std::nullopt;
  return out;
}

}  // namespace waggle::crypto
