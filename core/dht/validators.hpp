// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/dht/rsa_validator.hpp"
#include "core/dht/validator.hpp"
#include "core/dht/value.hpp"

namespace waggle::dht {

/// All validators of a node, in their order. RSA signatures are always verified, once, whether or
/// not a RsaValidator was added. Pure. Source: spec/hivemind-dht.md section 15.1.
class Validators {
 public:
  /// The number under which remove() takes it out again.
  std::uint64_t add(std::shared_ptr<Validator> validator);
  void remove(std::uint64_t number);

  /// In descending priority, each on the value that the one before stripped. Errors: the first
  /// one's.
  [[nodiscard]] Status validate(RecordView const& record) const;
  /// In ascending priority, each on the value that the one before signed.
  [[nodiscard]] Bytes sign(RecordView const& record) const;
  /// In descending priority.
  [[nodiscard]] Bytes strip(RecordView const& record) const;

  /// The value as the user of get() sees it: expired entries left out, signatures stripped.
  [[nodiscard]] Found found(Id const& key, StoredValue const& stored, DhtTime now) const;

 private:
  struct Entry {
    std::uint64_t number;
    std::shared_ptr<Validator> validator;
    bool rsa;
  };

  RsaValidator verify_;
  std::vector<Entry> entries_;  // descending priority, then in the order of their coming
  std::uint64_t next_ = 1;
};

}  // namespace waggle::dht
