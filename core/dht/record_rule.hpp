// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/dht/id.hpp"

namespace waggle::dht {

/// Recognises records that certify themselves by their content (a signed envelope with a version),
/// for which the version counts and not the expiration. Where a rule recognises a regular value
/// under a key:
///
///   - a value that no rule recognises never displaces it, whatever its expiration; nor does a
///   dictionary entry;
///   - it displaces any value that no rule recognises;
///   - of two recognised ones the higher version stays; of equal versions the later expiration.
///
/// The same order decides between the answers of several nodes. Nodes that do not know the rule
/// (hivemind's) go by expiration alone. DHT ids are hashes of key texts, so a rule must see from
/// the value which text the key belongs to, and compare the hash.
///
/// Pure; called for every regular value that comes in, so it should reject foreign values cheaply.
class RecordRule {
 public:
  virtual ~RecordRule() = default;
  /// The version of `value` (msgpack bytes, as stored) if it is a genuine record of this rule for
  /// `key`.
  [[nodiscard]] virtual std::optional<std::uint64_t> version(Id const& key,
                                                             ByteView value) const = 0;
};

}  // namespace waggle::dht
