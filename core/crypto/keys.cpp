// SPDX-License-Identifier: MIT
#include "core/crypto/keys.hpp"

#include <array>

#include <openssl/evp.h>
#include <sodium.h>

#include "core/base/assert.hpp"
#include "core/base/file.hpp"
#include "core/crypto/detail/curve.hpp"
#include "core/crypto/detail/evp.hpp"
#include "core/crypto/detail/key_message.hpp"
#include "core/crypto/detail/secret.hpp"

namespace waggle::crypto {
namespace {

constexpr std::size_t kSeedBytes = 32;
constexpr std::size_t kPointBytes = 32;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("private key: ", what)};
}

}  // namespace

// Either libsodium's secret key (seed, then public key) or libcrypto's, in `evp`; `data` is the
// message's Data field, which is all that has to be kept of either.
struct Identity::State {
  State(PublicKey key, detail::SecretBytes secret, detail::Pkey pkey)
      : public_key(std::move(key)),
        id(public_key.peer_id()),
        data(std::move(secret)),
        evp(std::move(pkey)) {}

  PublicKey public_key;
  PeerId id;
  detail::SecretBytes data;
  detail::Pkey evp;

  static std::unique_ptr<State> ed25519(std::span<std::byte const, 32> seed) {
    detail::start_sodium();
    Bytes point(kPointBytes);
    Bytes secret(crypto_sign_SECRETKEYBYTES);
    crypto_sign_seed_keypair(
        as_u8(MutableBytes(point)), as_u8(MutableBytes(secret)), as_u8(ByteView(seed)));
    return std::make_unique<State>(PublicKey(KeyType::ed25519, std::move(point)),
                                   detail::SecretBytes(std::move(secret)),
                                   nullptr);
  }

  // The public halves in the file must be the seed's: signing with a wrong one gives the key away.
  static Result<std::unique_ptr<State>> parse_ed25519(ByteView data) {
    if (data.size() != kSeedBytes + kPointBytes && data.size() != kSeedBytes + 2 * kPointBytes)
      return malformed(cat("Ed25519 key of ", data.size(), " bytes, not 64 or 96"));
    auto state = ed25519(std::span<std::byte const, 32>(data.first(kSeedBytes)));
    for (auto rest = data.subspan(kSeedBytes); !rest.empty(); rest = rest.subspan(kPointBytes))
      if (!equal(rest.first(kPointBytes), state->public_key.data()))
        return malformed("the public key does not belong to the Ed25519 seed");
    return state;
  }

  static Result<std::unique_ptr<State>> parse_secp256k1(ByteView data) {
    Bytes point;
    auto key = detail::secp256k1_private(data, point);
    if (!key) return malformed("no scalar of secp256k1");
    return std::make_unique<State>(PublicKey(KeyType::secp256k1, std::move(point)),
                                   detail::SecretBytes(to_bytes(data)),
                                   std::move(key));
  }

  static Result<std::unique_ptr<State>> parse_der(KeyType type, ByteView data) {
    auto key = detail::parse_private(type == KeyType::rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, data);
    if (!key) return malformed(type == KeyType::rsa ? "no PKCS#1 RSA key" : "no SEC1 EC key");
    // Through the public key's parser, for its limits on size and curve.
    auto const message = detail::write_key_message(type, detail::to_spki(*key));
    WAGGLE_TRY(auto public_key, PublicKey::from_protobuf(message));
    return std::make_unique<State>(
        std::move(public_key), detail::SecretBytes(to_bytes(data)), std::move(key));
  }

  static Result<std::unique_ptr<State>> parse(detail::KeyMessage const& message) {
    switch (message.type) {
      case KeyType::ed25519:
        return parse_ed25519(message.data);
      case KeyType::secp256k1:
        return parse_secp256k1(message.data);
      case KeyType::rsa:
      case KeyType::ecdsa:
        break;
    }
    return parse_der(message.type, message.data);
  }
};

Identity::Identity(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Identity::Identity(Identity&&) noexcept = default;
Identity& Identity::operator=(Identity&&) noexcept = default;
Identity::~Identity() = default;

Identity Identity::generate() {
  detail::start_sodium();
  std::array<std::byte, kSeedBytes> seed;
  randombytes_buf(seed.data(), seed.size());
  auto state = State::ed25519(seed);
  detail::wipe(seed);
  return Identity(std::move(state));
}

Identity Identity::from_seed(std::span<std::byte const, 32> seed) {
  return Identity(State::ed25519(seed));
}

Result<Identity> Identity::from_protobuf(ByteView serialized) {
  WAGGLE_TRY(auto const message, detail::KeyMessage::parse(serialized));
  WAGGLE_TRY(auto state, State::parse(message));
  return Identity(std::move(state));
}

Result<Identity> Identity::load_or_create(std::filesystem::path const& path) {
  auto const stored = detail::read_secret(path);
  if (stored) {
    auto identity = from_protobuf(stored->view());
    if (!identity) identity.error().detail += cat(" (", path.string(), ")");
    return identity;
  }
  if (stored.error().code != Errc::not_found) return stored.error();
  auto identity = generate();
  detail::SecretBytes const serialized(identity.to_protobuf());
  WAGGLE_TRY_STATUS(write_file(path, serialized.view(), FileMode::secret));
  return identity;
}

Bytes Identity::to_protobuf() const {
  return detail::write_key_message(state_->public_key.type(), state_->data.view());
}

PublicKey const& Identity::public_key() const noexcept {
  return state_->public_key;
}

PeerId const& Identity::peer_id() const noexcept {
  return state_->id;
}

Bytes Identity::sign(ByteView message) const {
  if (state_->public_key.type() == KeyType::ed25519) {
    Bytes signature(crypto_sign_BYTES);
    crypto_sign_detached(as_u8(MutableBytes(signature)),
                         nullptr,
                         as_u8(message),
                         message.size(),
                         as_u8(state_->data.view()));
    return signature;
  }
  auto signature = detail::sign_sha256(*state_->evp, message);
  if (state_->public_key.type() == KeyType::secp256k1)
    signature = detail::with_low_s(std::move(signature));
  return signature;
}

}  // namespace waggle::crypto
