// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/x25519.hpp"

namespace waggle::net {

constexpr std::string_view kNoiseProtocol = "/noise";
constexpr std::string_view kYamuxProtocol = "/yamux/1.0.0";
constexpr std::size_t kMaxNoiseMessage = 65535;
constexpr std::size_t kMaxNoisePlaintext = kMaxNoiseMessage - crypto::kAeadTagBytes;

/// Noise's SymmetricState for 25519, ChaChaPoly and SHA-256. Source: Noise spec rev 34 section 5.2.
class NoiseSymmetric {
 public:
  /// Begins with the protocol name and an empty prologue.
  NoiseSymmetric();

  void mix_hash(ByteView data);
  void mix_key(ByteView input);
  /// Appends the ciphertext (the plaintext while there is no key) to `out`.
  void encrypt_and_hash(ByteView plaintext, Bytes& out);
  /// Errors: bad_signature, malformed.
  [[nodiscard]] Result<Bytes> decrypt_and_hash(ByteView ciphertext);
  /// The transport keys: initiator to responder, responder to initiator.
  [[nodiscard]] std::pair<crypto::Sha256, crypto::Sha256> split() const;

  [[nodiscard]] crypto::Sha256 const& hash() const noexcept { return h_; }

  [[nodiscard]] crypto::Sha256 const& chaining_key() const noexcept { return ck_; }

  [[nodiscard]] std::optional<crypto::Sha256> const& key() const noexcept { return k_; }

 private:
  crypto::Sha256 h_{};
  crypto::Sha256 ck_{};
  std::optional<crypto::Sha256> k_;
  std::uint64_t nonce_ = 0;
};

/// Noise XX with libp2p's signed payload, as a pure state machine: bytes in, bytes out, no sockets,
/// no clock, no chance. secure() in noise_stream.hpp drives it.
///
///     initiator  step({}) → e
///     responder  step(1)  → e, ee, s, es, payload
///     initiator  step(2)  → s, se, payload          finished
///     responder  step(3)  → nothing                 finished
///
/// Source: Noise spec rev 34 section 7.5 (XX); spec/libp2p.md section 7.
class NoiseHandshake {
 public:
  enum class Role : bool { initiator, responder };
  /// What the extensions say about the muxer.
  enum class Muxer : std::uint8_t { agreed, undecided };

  struct Keys {
    crypto::Sha256 send;
    crypto::Sha256 receive;
  };

  /// `self` must outlive it. The secrets are arguments, so that vectors replay; both are fresh for
  /// every connection. `muxers` is listed in the extensions: exactly /yamux/1.0.0, because js lets
  /// the two ends disagree on longer lists; none: no extensions.
  NoiseHandshake(Role role,
                 crypto::Identity const& self,
                 crypto::X25519Key const& static_secret,
                 crypto::X25519Key const& ephemeral_secret,
                 std::vector<std::string> muxers = {std::string(kYamuxProtocol)});

  /// Feeds one message without its length prefix (empty, to begin as initiator) and returns the
  /// message to send, empty if it is the peer's turn or all is said. After an error the handshake
  /// is over. Errors: malformed, bad_signature, too_large.
  [[nodiscard]] Result<Bytes> step(ByteView message);

  [[nodiscard]] bool finished() const noexcept { return next_ == Next::done; }

  /// Whose static key it is, proved; set once the peer's payload was verified.
  [[nodiscard]] std::optional<crypto::PublicKey> const& remote_key() const noexcept {
    return remote_key_;
  }

  [[nodiscard]] std::optional<PeerId> remote() const;

  [[nodiscard]] Muxer muxer() const noexcept { return muxer_; }

  /// Asserts finished().
  [[nodiscard]] Keys keys() const;

  /// For vectors.
  [[nodiscard]] NoiseSymmetric const& symmetric() const noexcept { return symmetric_; }

 private:
  enum class Next : std::uint8_t { start, message1, message2, message3, done, failed };

  [[nodiscard]] Result<Bytes> advance(ByteView message);
  [[nodiscard]] Status read_message2(ByteView message);
  [[nodiscard]] Status read_message3(ByteView message);
  [[nodiscard]] Status mix_dh(crypto::X25519Key const& secret, crypto::X25519Key const& theirs);
  [[nodiscard]] Bytes payload() const;
  [[nodiscard]] Status read_static(ByteView sealed);
  [[nodiscard]] Status read_payload(ByteView sealed);

  Role role_;
  crypto::Identity const& self_;
  crypto::X25519Key static_;
  crypto::X25519Key ephemeral_;
  std::vector<std::string> muxers_;
  NoiseSymmetric symmetric_;
  Next next_;
  crypto::X25519Key their_ephemeral_{};
  crypto::X25519Key their_static_{};
  std::optional<crypto::PublicKey> remote_key_;
  Muxer muxer_ = Muxer::undecided;
};

}  // namespace waggle::net
