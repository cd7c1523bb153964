// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>

#include "core/base/bytes.hpp"

namespace waggle::crypto {

using Sha1 = std::array<std::byte, 20>;
using Sha256 = std::array<std::byte, 32>;
using Sha512 = std::array<std::byte, 64>;

/// One-shot hashes by libcrypto. Cost: one pass (SHA-256 about 1.6 GB/s with SHA-NI).
[[nodiscard]] Sha1 sha1(ByteView data);
[[nodiscard]] Sha256 sha256(ByteView data);
[[nodiscard]] Sha512 sha512(ByteView data);
[[nodiscard]] Sha256 hmac_sha256(ByteView key, ByteView data);

/// Compares secrets: its time tells nothing of where they differ, only whether their lengths do.
[[nodiscard]] bool equal_in_constant_time(ByteView a, ByteView b) noexcept;

/// SHA-256 fed piece by piece.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void update(ByteView data);
  /// Ends the stream; update() may not be called after it.
  [[nodiscard]] Sha256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::crypto
