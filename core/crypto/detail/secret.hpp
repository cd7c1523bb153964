// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <filesystem>
#include <utility>

#include "core/base/bytes.hpp"

namespace waggle::crypto::detail {

/// Overwrites memory in a way that the compiler keeps.
void wipe(MutableBytes secret) noexcept;

/// libsodium picks its code paths once; harmless to call again.
void start_sodium();

/// Bytes that are overwritten before they are freed. Never grown in place, which would leave
/// copies.
class SecretBytes {
 public:
  SecretBytes() = default;

  explicit SecretBytes(Bytes bytes) : bytes_(std::move(bytes)) {}

  SecretBytes(SecretBytes&&) noexcept = default;

  SecretBytes& operator=(SecretBytes&& other) noexcept {
    wipe(bytes_);
    bytes_ = std::move(other.bytes_);
    return *this;
  }

  ~SecretBytes() { wipe(bytes_); }

  [[nodiscard]] ByteView view() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
};

/// Largest key file that is read: the PKCS#1 form of RSA-8192 takes 4.7 KB.
constexpr std::uint64_t kMaxKeyFileBytes = 16 * 1024;

/// Reads a key file; where others than its owner may touch it, tightens its mode to 0600 and warns.
/// Errors: not_found, too_large, io.
[[nodiscard]] Result<SecretBytes> read_secret(std::filesystem::path const& path);

}  // namespace waggle::crypto::detail
