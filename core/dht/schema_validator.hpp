// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dht/validator.hpp"

namespace waggle::dht {

/// What a value must be. Types are strict: an integer is no float, a text is no bytes.
enum class FieldType : std::uint8_t { integer, real, boolean, text, bytes };

struct FieldRule {
  std::string name;
  FieldType type;
  bool not_negative = false;  ///< for numbers
};

/// What may stand under one key.
struct KeySchema {
  std::string key;                 ///< the key's text, such as "run_progress"
  bool dictionary = false;         ///< entries under subkeys of bytes that hold an owner mark
  bool nil_allowed = false;        ///< instead of the map: "I am leaving"
  std::vector<FieldRule> fields;   ///< of a map with exactly these keys, in any order
  std::optional<FieldType> plain;  ///< instead of a map: one value of this type
};

/// Checks records against a description, as hivemind does with pydantic models.
/// Source: spec/hivemind-dht.md section 15.3, hivemind-averaging.md sections 6 and 7.
class SchemaValidator final : public Validator {
 public:
  /// `allow_other_keys`: keys outside the description pass.
  explicit SchemaValidator(std::vector<KeySchema> keys, bool allow_other_keys = true);

  [[nodiscard]] int priority() const noexcept override { return 0; }

  /// Errors: refused, malformed.
  [[nodiscard]] Status validate(RecordView const& record) const override;

  /// Values above this are refused before they are decoded.
  static constexpr std::size_t kMaxValueBytes = 64u << 10;

 private:
  std::map<Id, KeySchema> keys_;
  bool allow_other_keys_;
};

/// PREFIX_progress: what hivemind's progress tracker stores.
[[nodiscard]] KeySchema progress_schema(std::string_view prefix);
/// PREFIX_metrics: what hivemind's example trainers store.
[[nodiscard]] KeySchema metrics_schema(std::string_view prefix);

}  // namespace waggle::dht
