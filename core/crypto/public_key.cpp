// SPDX-License-Identifier: MIT
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <sodium.h>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/crypto/detail/curve.hpp"
#include "core/crypto/detail/evp.hpp"
#include "core/crypto/detail/key_message.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/keys.hpp"

namespace waggle::crypto {
namespace {

// go-libp2p's bounds. Larger: a stranger's signature costs milliseconds to check. Smaller:
// forgeable.
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 8192;
// SubjectPublicKeyInfo of RSA-8192 takes 1062 bytes; this leaves room for odd exponents.
constexpr std::size_t kMaxKeyBytes = 2200;
// Serialized keys up to here are their own peer id.
constexpr std::size_t kMaxInlineKey = 42;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("public key: ", what)};
}

bool is_named_curve(EVP_PKEY const& key) {
  char name[64];
  std::size_t size = 0;
  if (EVP_PKEY_get_utf8_string_param(&key, OSSL_PKEY_PARAM_GROUP_NAME, name, sizeof name, &size) !=
      1)
    return false;
  std::string_view const curve(name, size);
  return curve == "prime256v1" || curve == "secp384r1" || curve == "secp521r1";
}

Result<detail::Pkey> parse_rsa(ByteView der) {
  auto key = detail::parse_spki(der);
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA)
    return malformed("no RSA SubjectPublicKeyInfo");
  int const bits = EVP_PKEY_get_bits(key.get());
  if (bits < kMinRsaBits || bits > kMaxRsaBits)
    return Error{Errc::refused,
                 cat("RSA key of ", bits, " bits, not ", kMinRsaBits, " to ", kMaxRsaBits)};
  return key;
}

Result<detail::Pkey> parse_ecdsa(ByteView der) {
  detail::ErrorQueueGuard const guard;
  auto key = detail::parse_spki(der);
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC || !is_named_curve(*key))
    return malformed("no SubjectPublicKeyInfo on P-256, P-384 or P-521");
  return key;
}

// The key in libcrypto's form; Ed25519 stays with libsodium.
Result<detail::Pkey> parse_evp(KeyType type, ByteView data) {
  if (data.size() > kMaxKeyBytes)
    return malformed(cat(data.size(), " bytes, at most ", kMaxKeyBytes));
  switch (type) {
    case KeyType::rsa:
      return parse_rsa(data);
    case KeyType::ecdsa:
      return parse_ecdsa(data);
    case KeyType::secp256k1: {
      auto key = detail::secp256k1_public(data);
      if (!key) return malformed("no compressed point of secp256k1");
      return key;
    }
    case KeyType::ed25519:
      break;
  }
  WAGGLE_ASSERT(false, "libsodium's key came to libcrypto");
  return malformed("");
}

Status check_ed25519(ByteView data) {
  if (data.size() != crypto_sign_PUBLICKEYBYTES)
    return malformed(cat("Ed25519 key of ", data.size(), " bytes, not 32"));
  return ok();
}

}  // namespace

Result<PublicKey> PublicKey::from_protobuf(ByteView serialized) {
  WAGGLE_TRY(auto const message, detail::KeyMessage::parse(serialized));
  if (message.type == KeyType::ed25519) {
    WAGGLE_TRY_STATUS(check_ed25519(message.data));
  } else {
    WAGGLE_TRY_STATUS(parse_evp(message.type, message.data));
  }
  return PublicKey(message.type, to_bytes(message.data));
}

std::optional<PublicKey> PublicKey::from_peer_id(PeerId const& id) {
  auto const bytes = id.bytes();
  if (bytes.size() < 2 || bytes[0] != std::byte{0}) return std::nullopt;
  auto key = from_protobuf(bytes.subspan(2));
  // Another spelling of the same key would have another id.
  if (!key || key->peer_id() != id) return std::nullopt;
  return *std::move(key);
}

Bytes PublicKey::to_protobuf() const {
  return detail::write_key_message(type_, data_);
}

PeerId PublicKey::peer_id() const {
  auto const serialized = to_protobuf();
  Bytes multihash;
  if (serialized.size() <= kMaxInlineKey) {
    multihash = {std::byte{0x00}, static_cast<std::byte>(serialized.size())};
    append(multihash, serialized);
  } else {
    multihash = {std::byte{0x12}, std::byte{0x20}};
    append(multihash, sha256(serialized));
  }
  return PeerId::from_bytes(multihash).value_or(PeerId{});
}

Status PublicKey::verify(ByteView message, ByteView signature) const {
  auto const wrong = [] { return Error{Errc::bad_signature, "the signature does not match"}; };
  if (type_ == KeyType::ed25519) {
    WAGGLE_TRY_STATUS(check_ed25519(data_));
    if (signature.size() != crypto_sign_BYTES ||
        crypto_sign_verify_detached(
            as_u8(signature), as_u8(message), message.size(), as_u8(ByteView(data_))) != 0)
      return wrong();
    return ok();
  }
  auto const key = parse_evp(type_, data_);
  if (!key) return Error{Errc::bad_signature, key.error().detail};
  if (!detail::verify_sha256(**key, message, signature)) return wrong();
  return ok();
}

}  // namespace waggle::crypto
