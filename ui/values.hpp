// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/node/snapshot.hpp"

namespace waggle::ui {

/// A setting's value as TOML writes it, as a plain one. Something else: nought, false, empty.
[[nodiscard]] bool flag_of(std::string_view literal);
[[nodiscard]] double number_of(std::string_view literal);
[[nodiscard]] std::string text_of(std::string_view literal);
[[nodiscard]] std::vector<std::string> texts_of(std::string_view literal);

/// And back.
[[nodiscard]] std::string literal(bool value);
[[nodiscard]] std::string literal(int value);
[[nodiscard]] std::string literal(double value);
[[nodiscard]] std::string literal(std::string_view text);
[[nodiscard]] std::string literal(std::span<std::string const> texts);

/// What a person just changed. A node needs a moment until its snapshot says so: until then, or for
/// `kPatience` seconds if it refuses, the window shows what was asked for.
class Edits {
 public:
  static constexpr double kPatience = 5;

  void note(std::string name, std::string literal, double now);
  /// Forgets what the node has taken up, and what it had time enough for.
  void settle(std::span<node::SettingView const> settings, double now);
  /// Null: nothing is under way for this setting.
  [[nodiscard]] std::string const* find(std::string_view name) const;

 private:
  struct Edit {
    std::string literal;
    double at = 0;
  };

  std::map<std::string, Edit, std::less<>> edits_;
};

}  // namespace waggle::ui
