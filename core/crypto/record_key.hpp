// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::crypto {

/// The RSA-2048 key with which hivemind's validators want DHT records signed (data directory:
/// record.key). Apart from the libp2p identity. Source: spec/hivemind-dht.md section 15.2.
class RecordKey {
 public:
  /// Takes about 0.1 s.
  [[nodiscard]] static RecordKey generate();
  /// Loads a PKCS#1 DER file, or makes one (mode 0600). Errors: malformed, io.
  [[nodiscard]] static Result<RecordKey> load_or_create(std::filesystem::path const& path);
  /// Errors: malformed.
  [[nodiscard]] static Result<RecordKey> from_der(ByteView pkcs1);

  RecordKey(RecordKey&&) noexcept;
  RecordKey& operator=(RecordKey&&) noexcept;
  ~RecordKey();

  /// "ssh-rsa AAAA…", one line, no comment.
  [[nodiscard]] std::string const& openssh_public() const noexcept;
  /// RSASSA-PSS, SHA-256, MGF1-SHA-256, maximum salt.
  [[nodiscard]] Bytes sign(ByteView message) const;
  [[nodiscard]] Bytes to_der() const;

 private:
  struct State;
  explicit RecordKey(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Verifies with a public key in OpenSSH's one-line form; demands the maximum salt length, as
/// hivemind does. Errors: malformed (the key does not parse), bad_signature.
[[nodiscard]] Status verify_record(std::string_view openssh_public,
                                   ByteView message,
                                   ByteView signature);

}  // namespace waggle::crypto
