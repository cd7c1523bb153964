// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::crypto {

/// Wire-stable: libp2p's KeyType.
enum class KeyType : std::uint8_t { rsa = 0, ed25519 = 1, secp256k1 = 2, ecdsa = 3 };

/// A peer's public key of any libp2p type. `data` is the protobuf's Data field, as given.
/// Source: spec/libp2p.md section 3.
class PublicKey {
 public:
  /// Errors: malformed (protobuf, type, length, DER), refused (RSA outside 2048 to 8192 bits).
  [[nodiscard]] static Result<PublicKey> from_protobuf(ByteView serialized);
  /// The key inside an identity-multihash peer id; nothing for a hashed one.
  [[nodiscard]] static std::optional<PublicKey> from_peer_id(PeerId const& id);

  PublicKey(KeyType type, Bytes data) : type_(type), data_(std::move(data)) {}

  [[nodiscard]] KeyType type() const noexcept { return type_; }

  [[nodiscard]] ByteView data() const noexcept { return data_; }

  /// Deterministic: both fields, always written.
  [[nodiscard]] Bytes to_protobuf() const;
  [[nodiscard]] PeerId peer_id() const;
  /// Errors: bad_signature. Libsodium for Ed25519, libcrypto for the others.
  [[nodiscard]] Status verify(ByteView message, ByteView signature) const;

  friend bool operator==(PublicKey const&, PublicKey const&) = default;

 private:
  KeyType type_;
  Bytes data_;
};

/// Who we are: an Ed25519 key pair (or an imported RSA, secp256k1 or ECDSA one). Secrets are wiped
/// on destruction.
class Identity {
 public:
  /// A fresh Ed25519 key from the system's randomness.
  [[nodiscard]] static Identity generate();
  /// Deterministic Ed25519, for tests and vectors.
  [[nodiscard]] static Identity from_seed(std::span<std::byte const, 32> seed);
  /// Reads libp2p's PrivateKey protobuf. Errors: malformed.
  [[nodiscard]] static Result<Identity> from_protobuf(ByteView serialized);
  /// Loads `path`, or makes a fresh key there (mode 0600) if nothing is there. Errors: malformed,
  /// io.
  [[nodiscard]] static Result<Identity> load_or_create(std::filesystem::path const& path);

  Identity(Identity&&) noexcept;
  Identity& operator=(Identity&&) noexcept;
  ~Identity();

  [[nodiscard]] Bytes to_protobuf() const;
  [[nodiscard]] PublicKey const& public_key() const noexcept;
  [[nodiscard]] PeerId const& peer_id() const noexcept;
  [[nodiscard]] Bytes sign(ByteView message) const;

 private:
  struct State;
  explicit Identity(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::crypto
