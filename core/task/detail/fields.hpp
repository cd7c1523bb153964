// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <variant>

#include "core/task/definition.hpp"

namespace waggle::task::detail {

/// Where a field's value stands in a Definition.
using Slot = std::variant<std::string*,
                          std::int64_t*,
                          double*,
                          bool*,
                          std::vector<std::string>*,
                          std::vector<double>*>;

/// A field that only means something when another one has a value: "model.depth" when
/// "model.family" is "resnet".
struct When {
  std::string_view section;
  std::string_view name;
  std::string_view value;
};

/// What a value may be. Texts and lists: `low` to `high` is the length. Empty choices: any.
struct Allowed {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;      ///< low itself is not allowed
  bool below_high = false;     ///< high itself is not allowed
  std::string_view choices{};  ///< "sgd adamw"; for numbers too
  std::string_view later{};    ///< names of DESIGN.md that this version does not train yet
};

/// One line of task.toml: parsing, checking, writing and the documentation all come from it.
struct Field {
  std::string_view section;
  std::string_view name;
  Slot (*slot)(Definition&);
  bool required;
  Allowed allowed;
  When when;
  std::string_view help;
};

/// All fields, section by section, in the order in which they are written.
[[nodiscard]] std::span<Field const> fields() noexcept;

/// Null if there is none.
[[nodiscard]] Field const* find_field(std::string_view section, std::string_view name) noexcept;

/// Whether the field means something in this definition.
[[nodiscard]] bool applies(Field const& field, Definition const& definition);

/// "a number from 0 to below 1", "one of sgd, adamw", "a list of 1 to 64 texts".
[[nodiscard]] std::string expectation(Field const& field);

/// As TOML and JSON write it.
[[nodiscard]] std::string value_text(Field const& field, Definition const& definition);

/// The words of `list` that stand between blanks.
[[nodiscard]] std::vector<std::string_view> words(std::string_view list);

/// The candidate that `found` was probably meant to be; empty if none is near.
[[nodiscard]] std::string_view nearest(std::string_view found,
                                       std::span<std::string_view const> candidates);

}  // namespace waggle::task::detail
