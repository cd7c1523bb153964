// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "core/base/bytes.hpp"

// libcrypto's own names for EVP_PKEY and the like; its headers stay in the .cpp files.
struct evp_pkey_st;
struct evp_pkey_ctx_st;
struct evp_md_ctx_st;
struct evp_cipher_ctx_st;

namespace waggle::crypto::detail {

struct EvpFree {
  void operator()(evp_pkey_st* p) const noexcept;
  void operator()(evp_pkey_ctx_st* p) const noexcept;
  void operator()(evp_md_ctx_st* p) const noexcept;
  void operator()(evp_cipher_ctx_st* p) const noexcept;
};

using Pkey = std::unique_ptr<evp_pkey_st, EvpFree>;
using PkeyContext = std::unique_ptr<evp_pkey_ctx_st, EvpFree>;
using DigestContext = std::unique_ptr<evp_md_ctx_st, EvpFree>;
using CipherContext = std::unique_ptr<evp_cipher_ctx_st, EvpFree>;

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
[[nodiscard]] Bytes to_spki(evp_pkey_st const& key);
[[nodiscard]] Bytes to_traditional_der(evp_pkey_st const& key);

/// SHA-256 of the message, signed with whatever `key` is. Asserts: only a broken libcrypto fails.
[[nodiscard]] Bytes sign_sha256(evp_pkey_st& key,
                                ByteView message,
                                Padding padding = Padding::standard);
[[nodiscard]] bool verify_sha256(evp_pkey_st& key,
                                 ByteView message,
                                 ByteView signature,
                                 Padding padding = Padding::standard);

}  // namespace waggle::crypto::detail
