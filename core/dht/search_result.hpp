// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/dht/messages.hpp"
#include "core/dht/storage.hpp"
#include "core/dht/validators.hpp"
#include "core/dht/value.hpp"

namespace waggle::dht {

/// Merges what several nodes hold under one key. Pure. Source: spec/hivemind-dht.md section 14.3;
/// certified records (core/dht/record_rule.hpp) go by version first.
class SearchResult {
 public:
  /// A value that ends at `sufficient` or later ends the search; +infinity: ask everybody.
  explicit SearchResult(DhtTime sufficient) : sufficient_(sufficient) {}

  /// `version`: if a rule certifies the candidate. Ignored once finished.
  void offer(StoredValue candidate,
             Id const& source,
             DhtTime now,
             std::optional<std::uint64_t> version = {});

  [[nodiscard]] bool finished() const noexcept {
    return value_ && value_->expiration >= sufficient_;
  }

  /// Null if nothing was found.
  [[nodiscard]] StoredValue const* value() const noexcept { return value_ ? &*value_ : nullptr; }

  /// The node whose candidate ends last.
  [[nodiscard]] std::optional<Id> const& source() const noexcept { return source_; }

 private:
  DhtTime sufficient_;
  std::optional<StoredValue> value_;
  std::optional<std::uint64_t> version_;
  std::optional<Id> source_;
};

/// A value of an answer, if it is one: decoded, alive, valid. Invalid entries of a dictionary are
/// left out (hivemind drops the whole dictionary then, so one bad entry hides the others).
[[nodiscard]] std::optional<StoredValue> read_found(Id const& key,
                                                    FindResult const& result,
                                                    Validators const& validators,
                                                    DhtTime now);

}  // namespace waggle::dht
