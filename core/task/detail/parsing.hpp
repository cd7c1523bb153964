// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/task/definition.hpp"
#include "core/task/detail/fields.hpp"
#include "core/task/strict_toml.hpp"

namespace waggle::task::detail {

/// Where the sections and fields of one task.toml stand, so that errors can say so.
class Places {
 public:
  /// `file` names the text in errors.
  explicit Places(std::string_view file) : file_(file) {}

  void section(std::string_view name, toml::source_region const& where) { sections_[name] = where; }

  void field(Field const& field, toml::source_region const& where) { fields_[&field] = where; }

  [[nodiscard]] std::map<Field const*, toml::source_region> const& fields() const noexcept {
    return fields_;
  }

  /// The section in which the field stands or should stand.
  [[nodiscard]] toml::source_region const& section_of(Field const& field) const;

  /// "task.toml:12:3: what".
  [[nodiscard]] Error error(toml::source_region const& where, std::string const& what) const;
  /// The same of a field, at its value or else at its section: "task.toml:12:3: section.name:
  /// what".
  [[nodiscard]] Error error(std::string_view section,
                            std::string_view name,
                            std::string const& what) const;

 private:
  std::string_view file_;
  std::map<Field const*, toml::source_region> fields_;
  std::map<std::string_view, toml::source_region> sections_;
};

/// `text` between quotes, without control characters; long texts of strangers are cut.
[[nodiscard]] std::string shown(std::string_view text);

/// Each field alone: known, there if required, of its type, in its range, and meaningful. Errors:
/// invalid.
[[nodiscard]] Status read_fields(toml::table const& root, Places& places, Definition& out);

/// What one field alone cannot say. Errors: invalid.
[[nodiscard]] Status check_across(Definition const& definition, Places const& places);

}  // namespace waggle::task::detail
