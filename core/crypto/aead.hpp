// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/base/bytes.hpp"

namespace waggle::crypto {

constexpr std::size_t kAeadTagBytes = 16;

/// ChaCha20-Poly1305 (IETF) with Noise's nonce (four zero bytes, then a little-endian counter), by
/// libcrypto: about 2.8 GB/s a core in 64 KiB frames. One direction, one key; not thread-safe.
class Aead {
 public:
  explicit Aead(std::span<std::byte const, 32> key);
  ~Aead();
  Aead(Aead&&) noexcept;
  Aead& operator=(Aead&&) noexcept;

  /// Writes ciphertext and tag; out is in.size() + kAeadTagBytes long and may start where `in`
  /// starts.
  void seal(std::uint64_t nonce, ByteView associated, ByteView in, MutableBytes out);
  /// As seal() of the pieces joined; out is their sizes' sum + kAeadTagBytes long, and apart from
  /// them.
  void seal_pieces(std::uint64_t nonce,
                   ByteView associated,
                   std::span<ByteView const> pieces,
                   MutableBytes out);
  /// Writes the plaintext; out is in.size() - kAeadTagBytes long and may start where `in` starts.
  /// Errors: bad_signature, malformed (shorter than a tag).
  [[nodiscard]] Status open(std::uint64_t nonce,
                            ByteView associated,
                            ByteView in,
                            MutableBytes out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::crypto
