// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/dht/validator.hpp"

namespace waggle::crypto {
class RecordKey;
}

namespace waggle::dht {

/// Records whose key or subkey names an owner must carry that owner's signature (RSA-PSS with the
/// longest salt). Unprotected ones pass. With a key it also signs what stands under our own owner
/// mark.
///
/// Departures from hivemind: a key that does not parse makes the record invalid, where hivemind
/// fails the whole call; marks are stripped from protected records only, where hivemind takes them
/// out of every value. Cost: one RSA verification a protected record. Source: spec/hivemind-dht.md
/// section 15.2.
class RsaValidator final : public Validator {
 public:
  /// Verifies only.
  RsaValidator() = default;
  /// Verifies and signs.
  explicit RsaValidator(std::shared_ptr<crypto::RecordKey const> key);

  /// "[owner:ssh-rsa …]": the subkey (as text or bin) under which our records are ours. Empty
  /// without a key.
  [[nodiscard]] std::string const& owner_mark() const noexcept { return owner_mark_; }

  [[nodiscard]] int priority() const noexcept override { return 10; }

  [[nodiscard]] Status validate(RecordView const& record) const override;
  [[nodiscard]] Bytes sign(RecordView const& record) const override;
  [[nodiscard]] Bytes strip(RecordView const& record) const override;

  /// What the signature covers: msgpack of the tuple (key, subkey, value without signature,
  /// expiration).
  [[nodiscard]] static Bytes signed_message(RecordView const& record);

 private:
  std::shared_ptr<crypto::RecordKey const> key_;
  std::string owner_mark_;
};

}  // namespace waggle::dht
