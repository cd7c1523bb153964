// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes.hpp"
#include "core/dht/id.hpp"

namespace waggle::dht {

/// What a validator sees of a record: the key's id, the subkey's stored bytes (a tag for regular
/// values), the value's bytes, the expiration. Source: spec/hivemind-dht.md section 15.
struct RecordView {
  Id const& key;
  ByteView subkey;
  ByteView value;
  double expiration;
};

/// Accepts, signs and strips records. Signing runs in ascending priority, validating and stripping
/// in descending. Pure; thread: the network thread.
class Validator {
 public:
  virtual ~Validator() = default;
  /// hivemind: schema 0, RSA 10.
  [[nodiscard]] virtual int priority() const noexcept = 0;
  /// Errors: bad_signature, refused (the reason). Never throws on hostile bytes.
  [[nodiscard]] virtual Status validate(RecordView const& record) const = 0;

  /// The value as it is stored, signature appended where ours is due.
  [[nodiscard]] virtual Bytes sign(RecordView const& record) const {
    return to_bytes(record.value);
  }

  /// The value without what sign() appended.
  [[nodiscard]] virtual Bytes strip(RecordView const& record) const {
    return to_bytes(record.value);
  }
};

}  // namespace waggle::dht
