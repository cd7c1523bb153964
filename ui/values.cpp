// SPDX-License-Identifier: MIT
#include "ui/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace waggle::ui {
namespace {

// Takes a "…" from the front of `rest`, which begins with the quote.
std::string take_text(std::string_view& rest) {
  std::string out;
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != '"') {
    if (rest.front() == '\\' && rest.size() > 1) {
      rest.remove_prefix(1);
      if (rest.front() == 'u' && rest.size() > 4) {
        // Only control characters are written so.
        unsigned code = 0;
        std::from_chars(rest.data() + 1, rest.data() + 5, code, 16);
        out += static_cast<char>(code & 0x7F);
        rest.remove_prefix(5);
        continue;
      }
    }
    out += rest.front();
    rest.remove_prefix(1);
  }
  if (!rest.empty()) rest.remove_prefix(1);
  return out;
}

}  // namespace

bool flag_of(std::string_view literal) {
  return literal == "true";
}

double number_of(std::string_view literal) {
  double value = 0;
  std::from_chars(literal.data(), literal.data() + literal.size(), value);
  return value;
}

std::string text_of(std::string_view literal) {
  return literal.starts_with('"') ? take_text(literal) : std::string();
}

std::vector<std::string> texts_of(std::string_view literal) {
  std::vector<std::string> all;
  for (;;) {
    auto const at = literal.find('"');
    if (at == std::string_view::npos) return all;
    literal.remove_prefix(at);
    all.push_back(take_text(literal));
  }
}

std::string literal(bool value) {
  return value ? "true" : "false";
}

std::string literal(int value) {
  return std::to_string(value);
}

std::string literal(double value) {
  std::array<char, 32> digits;
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string out(digits.data(), end);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    // A line break or the like is nothing that a person types into these fields.
    if (static_cast<unsigned char>(c) < 0x20) continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string literal(std::span<std::string const> texts) {
  std::string out = "[";
  for (auto const& text : texts) {
    if (out.size() > 1) out += ", ";
    out += literal(std::string_view(text));
  }
  return out + "]";
}

void Edits::note(std::string name, std::string literal, double now) {
  edits_[std::move(name)] = {std::move(literal), now};
}

void Edits::settle(std::span<node::SettingView const> settings, double now) {
  std::erase_if(edits_, [&](auto const& entry) {
    auto const& [name, edit] = entry;
    if (now - edit.at > kPatience) return true;
    auto const at = std::ranges::find(settings, name, &node::SettingView::name);
    return at != settings.end() && at->value == edit.literal;
  });
}

std::string const* Edits::find(std::string_view name) const {
  auto const at = edits_.find(name);
  return at == edits_.end() ? nullptr : &at->second.literal;
}

}  // namespace waggle::ui
