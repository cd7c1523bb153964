// SPDX-License-Identifier: MIT
#include "core/net/noise.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/net/proto/noise.pb.h"

namespace waggle::net {
namespace {

constexpr std::string_view kName = "Noise_XX_25519_ChaChaPoly_SHA256";
constexpr std::string_view kSignaturePrefix = "noise-libp2p-static-key:";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSealedKeyBytes = kKeyBytes + crypto::kAeadTagBytes;
constexpr int kMaxMuxers = 100;  // go ignores longer lists

crypto::X25519Key to_key(ByteView bytes) {
  crypto::X25519Key key;
  std::copy_n(bytes.begin(), key.size(), key.begin());
  return key;
}

Bytes signed_part(ByteView static_public) {
  Bytes message = to_bytes(kSignaturePrefix);
  append(message, static_public);
  return message;
}

std::pair<crypto::Sha256, crypto::Sha256> hkdf(ByteView chaining_key, ByteView input) {
  auto const temporary = crypto::hmac_sha256(chaining_key, input);
  std::array<std::byte, 1> const one{std::byte{1}};
  auto const first = crypto::hmac_sha256(temporary, one);
  Bytes second_input = to_bytes(ByteView(first));
  second_input.push_back(std::byte{2});
  return {first, crypto::hmac_sha256(temporary, second_input)};
}

}  // namespace

NoiseSymmetric::NoiseSymmetric() {
  static_assert(kName.size() == sizeof(crypto::Sha256), "the name is the hash, without padding");
  std::copy_n(as_bytes(kName).begin(), h_.size(), h_.begin());
  ck_ = h_;
  mix_hash({});  // the empty prologue counts
}

void NoiseSymmetric::mix_hash(ByteView data) {
  crypto::Sha256Stream stream;
  stream.update(h_);
  stream.update(data);
  h_ = stream.finish();
}

void NoiseSymmetric::mix_key(ByteView input) {
  auto const [ck, k] = hkdf(ck_, input);
  ck_ = ck;
  k_ = k;
  nonce_ = 0;
}

void NoiseSymmetric::encrypt_and_hash(ByteView plaintext, Bytes& out) {
  auto const at = out.size();
  if (k_) {
    out.resize(at + plaintext.size() + crypto::kAeadTagBytes);
    crypto::Aead(*k_).seal(nonce_++, h_, plaintext, MutableBytes(out).subspan(at));
  } else {
    append(out, plaintext);
  }
  mix_hash(ByteView(out).subspan(at));
}

Result<Bytes> NoiseSymmetric::decrypt_and_hash(ByteView ciphertext) {
  Bytes plaintext;
  if (k_) {
    if (ciphertext.size() < crypto::kAeadTagBytes)
      return Error{Errc::malformed, "a Noise field shorter than its tag"};
    plaintext.resize(ciphertext.size() - crypto::kAeadTagBytes);
    WAGGLE_TRY_STATUS(crypto::Aead(*k_).open(nonce_++, h_, ciphertext, plaintext));
  } else {
    plaintext = to_bytes(ciphertext);
  }
  mix_hash(ciphertext);
  return plaintext;
}

std::pair<crypto::Sha256, crypto::Sha256> NoiseSymmetric::split() const {
  return hkdf(ck_, {});
}

NoiseHandshake::NoiseHandshake(Role role,
                               crypto::Identity const& self,
                               crypto::X25519Key const& static_secret,
                               crypto::X25519Key const& ephemeral_secret,
                               std::vector<std::string> muxers)
    : role_(role),
      self_(self),
      static_(static_secret),
      ephemeral_(ephemeral_secret),
      muxers_(std::move(muxers)),
      next_(role == Role::initiator ? Next::start : Next::message1) {
}

Result<Bytes> NoiseHandshake::step(ByteView message) {
  if (message.size() > kMaxNoiseMessage) {
    next_ = Next::failed;
    return Error{Errc::too_large, cat("a Noise message of ", message.size(), " bytes")};
  }
  auto reply = advance(message);
  if (!reply) next_ = Next::failed;
  return reply;
}

Result<Bytes> NoiseHandshake::advance(ByteView message) {
  switch (next_) {
    case Next::start: {
      auto const ours = crypto::x25519_public(ephemeral_);
      Bytes out = to_bytes(ByteView(ours));
      symmetric_.mix_hash(ours);
      symmetric_.mix_hash({});  // the empty payload, before there is a key
      next_ = Next::message2;
      return out;
    }
    case Next::message1: {
      if (message.size() != kKeyBytes)
        return Error{Errc::malformed, cat("Noise message 1 of ", message.size(), " bytes, not 32")};
      their_ephemeral_ = to_key(message);
      symmetric_.mix_hash(message);
      symmetric_.mix_hash({});
      next_ = Next::message3;
      auto const ours = crypto::x25519_public(ephemeral_);
      symmetric_.mix_hash(ours);
      WAGGLE_TRY_STATUS(mix_dh(ephemeral_, their_ephemeral_));
      Bytes out = to_bytes(ByteView(ours));
      symmetric_.encrypt_and_hash(crypto::x25519_public(static_), out);
      WAGGLE_TRY_STATUS(mix_dh(static_, their_ephemeral_));
      symmetric_.encrypt_and_hash(payload(), out);
      return out;
    }
    case Next::message2: {
      WAGGLE_TRY_STATUS(read_message2(message));
      Bytes out;
      symmetric_.encrypt_and_hash(crypto::x25519_public(static_), out);
      WAGGLE_TRY_STATUS(mix_dh(static_, their_ephemeral_));
      symmetric_.encrypt_and_hash(payload(), out);
      next_ = Next::done;
      return out;
    }
    case Next::message3:
      WAGGLE_TRY_STATUS(read_message3(message));
      next_ = Next::done;
      return Bytes{};
    case Next::done:
    case Next::failed:
      break;
  }
  return Error{Errc::malformed, "a Noise message after the end of the handshake"};
}

Status NoiseHandshake::read_message2(ByteView message) {
  if (message.size() < kKeyBytes + kSealedKeyBytes + crypto::kAeadTagBytes)
    return Error{Errc::malformed, cat("Noise message 2 of ", message.size(), " bytes")};
  auto const ephemeral = message.first(kKeyBytes);
  their_ephemeral_ = to_key(ephemeral);
  symmetric_.mix_hash(ephemeral);
  WAGGLE_TRY_STATUS(mix_dh(ephemeral_, their_ephemeral_));
  WAGGLE_TRY_STATUS(read_static(message.subspan(kKeyBytes, kSealedKeyBytes)));
  WAGGLE_TRY_STATUS(mix_dh(ephemeral_, their_static_));
  return read_payload(message.subspan(kKeyBytes + kSealedKeyBytes));
}

Status NoiseHandshake::read_message3(ByteView message) {
  if (message.size() < kSealedKeyBytes + crypto::kAeadTagBytes)
    return Error{Errc::malformed, cat("Noise message 3 of ", message.size(), " bytes")};
  WAGGLE_TRY_STATUS(read_static(message.first(kSealedKeyBytes)));
  WAGGLE_TRY_STATUS(mix_dh(ephemeral_, their_static_));
  return read_payload(message.subspan(kSealedKeyBytes));
}

Status NoiseHandshake::mix_dh(crypto::X25519Key const& secret, crypto::X25519Key const& theirs) {
  auto const shared = crypto::x25519(secret, theirs);
  if (!shared) return Error{Errc::bad_signature, "a low-order X25519 key"};
  symmetric_.mix_key(*shared);
  return ok();
}

Status NoiseHandshake::read_static(ByteView sealed) {
  WAGGLE_TRY(auto const key, symmetric_.decrypt_and_hash(sealed));
  their_static_ = to_key(key);
  return ok();
}

Bytes NoiseHandshake::payload() const {
  auto const message = signed_part(crypto::x25519_public(static_));
  pb::NoiseHandshakePayload payload;
  payload.set_identity_key(to_string(self_.public_key().to_protobuf()));
  payload.set_identity_sig(to_string(self_.sign(message)));
  for (auto const& muxer : muxers_) payload.mutable_extensions()->add_stream_muxers(muxer);
  return to_bytes(payload.SerializeAsString());
}

Status NoiseHandshake::read_payload(ByteView sealed) {
  WAGGLE_TRY(auto const plain, symmetric_.decrypt_and_hash(sealed));
  pb::NoiseHandshakePayload payload;
  if (!payload.ParseFromArray(plain.data(), static_cast<int>(plain.size())))
    return Error{Errc::malformed, "a Noise payload that is no protobuf"};
  WAGGLE_TRY(auto key, crypto::PublicKey::from_protobuf(as_bytes(payload.identity_key())));
  auto const message = signed_part(their_static_);
  WAGGLE_TRY_STATUS(key.verify(message, as_bytes(payload.identity_sig())));
  remote_key_ = std::move(key);
  auto const& theirs = payload.extensions().stream_muxers();
  auto const lists_yamux = [](auto const& list) {
    return std::find(list.begin(), list.end(), kYamuxProtocol) != list.end();
  };
  if (theirs.size() <= kMaxMuxers && lists_yamux(theirs) && lists_yamux(muxers_))
    muxer_ = Muxer::agreed;
  return ok();
}

std::optional<PeerId> NoiseHandshake::remote() const {
  if (!remote_key_) return std::nullopt;
  return remote_key_->peer_id();
}

NoiseHandshake::Keys NoiseHandshake::keys() const {
  WAGGLE_ASSERT(finished(), "keys of an unfinished handshake");
  auto const [to_responder, to_initiator] = symmetric_.split();
  if (role_ == Role::initiator) return {to_responder, to_initiator};
  return {to_initiator, to_responder};
}

}  // namespace waggle::net
