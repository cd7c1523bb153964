// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include <openssl/evp.h>

#include "core/base/bytes.hpp"

namespace waggle::crypto::detail {

struct EvpFree {
  void operator()(EVP_PKEY* p) const noexcept { EVP_PKEY_free(p); }

  void operator()(EVP_PKEY_CTX* p) const noexcept { EVP_PKEY_CTX_free(p); }

  void operator()(EVP_MD_CTX* p) const noexcept { EVP_MD_CTX_free(p); }

  void operator()(EVP_CIPHER_CTX* p) const noexcept { EVP_CIPHER_CTX_free(p); }
};

using Pkey = std::unique_ptr<EVP_PKEY, EvpFree>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, EvpFree>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, EvpFree>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, EvpFree>;

/// Empties libcrypto's queue of errors when left, so that a failed parse leaves nothing behind.
class ErrorQueueGuard {
 public:
  ErrorQueueGuard() = default;
  ErrorQueueGuard(ErrorQueueGuard const&) = delete;
  ErrorQueueGuard& operator=(ErrorQueueGuard const&) = delete;
  ~ErrorQueueGuard();
};

/// How an RSA signature is padded: libp2p's keys take PKCS#1 v1.5, hivemind's records PSS with the
/// longest salt.
enum class Padding : bool { standard, pss_longest_salt };

/// SubjectPublicKeyInfo DER, all of it; null if it does not parse.
[[nodiscard]] Pkey parse_spki(ByteView der);
/// PKCS#1 RSAPrivateKey or SEC1 ECPrivateKey DER, all of it; null if it does not parse or its
/// halves do not belong together. Cost: tens of milliseconds for RSA.
[[nodiscard]] Pkey parse_private(int type, ByteView der);
[[nodiscard]] Bytes to_spki(EVP_PKEY const& key);
[[nodiscard]] Bytes to_traditional_der(EVP_PKEY const& key);

/// SHA-256 of the message, signed with whatever `key` is. Asserts: only a broken libcrypto fails.
[[nodiscard]] Bytes sign_sha256(EVP_PKEY& key,
                                ByteView message,
                                Padding padding = Padding::standard);
[[nodiscard]] bool verify_sha256(EVP_PKEY& key,
                                 ByteView message,
                                 ByteView signature,
                                 Padding padding = Padding::standard);

}  // namespace waggle::crypto::detail
