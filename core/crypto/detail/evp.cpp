// SPDX-License-Identifier: MIT
#include "core/crypto/detail/evp.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "core/base/assert.hpp"

namespace waggle::crypto::detail {
namespace {

bool set_padding(EVP_PKEY_CTX* context, Padding padding) {
  if (padding == Padding::standard) return true;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_MAX) == 1;
}

}  // namespace

void EvpFree::operator()(EVP_PKEY* p) const noexcept {
  EVP_PKEY_free(p);
}

void EvpFree::operator()(EVP_PKEY_CTX* p) const noexcept {
  EVP_PKEY_CTX_free(p);
}

void EvpFree::operator()(EVP_MD_CTX* p) const noexcept {
  EVP_MD_CTX_free(p);
}

void EvpFree::operator()(EVP_CIPHER_CTX* p) const noexcept {
  EVP_CIPHER_CTX_free(p);
}

ErrorQueueGuard::~ErrorQueueGuard() {
  ERR_clear_error();
}

Pkey parse_spki(ByteView der) {
  ErrorQueueGuard const guard;
  auto const* at = as_u8(der);
  Pkey key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (key && at != as_u8(der) + der.size()) return nullptr;
  return key;
}

Pkey parse_private(int type, ByteView der) {
  ErrorQueueGuard const guard;
  auto const* at = as_u8(der);
  Pkey key(d2i_PrivateKey(type, nullptr, &at, static_cast<long>(der.size())));
  if (!key || at != as_u8(der) + der.size()) return nullptr;
  // Halves that do not belong together make signatures that nobody can verify, or that give the key
  // away.
  PkeyContext const context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  if (EVP_PKEY_pairwise_check(context.get()) != 1) return nullptr;
  return key;
}

Bytes to_spki(EVP_PKEY const& key) {
  int const size = i2d_PUBKEY(&key, nullptr);
  WAGGLE_ASSERT(size > 0, "libcrypto cannot write a public key");
  Bytes der(static_cast<std::size_t>(size));
  auto* at = as_u8(MutableBytes(der));
  i2d_PUBKEY(&key, &at);
  return der;
}

Bytes to_traditional_der(EVP_PKEY const& key) {
  int const size = i2d_PrivateKey(&key, nullptr);
  WAGGLE_ASSERT(size > 0, "libcrypto cannot write a private key");
  Bytes der(static_cast<std::size_t>(size));
  auto* at = as_u8(MutableBytes(der));
  i2d_PrivateKey(&key, &at);
  return der;
}

Bytes sign_sha256(EVP_PKEY& key, ByteView message, Padding padding) {
  DigestContext const context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;  // owned by `context`
  std::size_t size = 0;
  bool ok = EVP_DigestSignInit(context.get(), &parameters, EVP_sha256(), nullptr, &key) == 1 &&
            set_padding(parameters, padding) &&
            EVP_DigestSign(context.get(), nullptr, &size, as_u8(message), message.size()) == 1;
  WAGGLE_ASSERT(ok, "libcrypto cannot start to sign");
  Bytes signature(size);
  ok = EVP_DigestSign(
           context.get(), as_u8(MutableBytes(signature)), &size, as_u8(message), message.size()) ==
       1;
  WAGGLE_ASSERT(ok, "libcrypto cannot sign");
  signature.resize(size);
  return signature;
}

bool verify_sha256(EVP_PKEY& key, ByteView message, ByteView signature, Padding padding) {
  ErrorQueueGuard const guard;
  DigestContext const context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;  // owned by `context`
  return EVP_DigestVerifyInit(context.get(), &parameters, EVP_sha256(), nullptr, &key) == 1 &&
         set_padding(parameters, padding) &&
         EVP_DigestVerify(
             context.get(), as_u8(signature), signature.size(), as_u8(message), message.size()) ==
             1;
}

}  // namespace waggle::crypto::detail
