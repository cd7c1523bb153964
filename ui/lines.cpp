// SPDX-License-Identifier: MIT
#include "ui/lines.hpp"

#include <algorithm>
#include <array>

namespace waggle::ui {
namespace {

using namespace std::string_view_literals;

constexpr std::array kClosing{"，"sv,
                              "。"sv,
                              "；"sv,
                              "："sv,
                              "？"sv,
                              "！"sv,
                              "、"sv,
                              "）"sv,
                              "”"sv,
                              "’"sv,
                              "》"sv,
                              "」"sv,
                              "…"sv,
                              ")"sv,
                              ","sv,
                              "."sv};
constexpr std::array kOpening{"（"sv, "“"sv, "‘"sv, "《"sv, "「"sv, "("sv};

std::string_view first_letter(std::string_view words) {
  auto const lead = static_cast<unsigned char>(words.front());
  std::size_t const size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return words.substr(0, size);
}

// U+3000 to U+9FFF, and the full-width forms.
bool is_wide(std::string_view letter) {
  auto const lead = static_cast<unsigned char>(letter.front());
  return letter.size() == 3 && ((lead >= 0xE3 && lead <= 0xE9) || lead == 0xEF);
}

bool may_end_between(std::string_view before, std::string_view after) {
  if (before.empty() || after == " " || std::ranges::count(kClosing, after) > 0 ||
      std::ranges::count(kOpening, before) > 0)
    return false;
  return before == " " || is_wide(before) || is_wide(after);
}

void trim_end(std::string& out) {
  while (out.ends_with(' ')) out.pop_back();
}

}  // namespace

std::string lines(std::string_view words,
                  float room,
                  std::function<float(std::string_view)> const& width) {
  std::string out;
  std::size_t begin = 0;  // of the line in `words`
  std::size_t end = 0;    // where it may end; begin: nowhere yet
  float so_far = 0;
  float at_end = 0;
  std::string_view before;
  auto const finish = [&](std::size_t at) {
    out += words.substr(begin, at - begin);
    trim_end(out);
    out += '\n';
    begin = end = at;
  };
  for (std::size_t i = 0; i < words.size();) {
    auto const letter = first_letter(words.substr(i));
    if (letter == "\n") {
      finish(i);
      begin = end = i + 1;
      so_far = 0;
      before = {};
      i = begin;
      continue;
    }
    if (may_end_between(before, letter)) {
      end = i;
      at_end = so_far;
    }
    float const own = width(letter);
    // A space may hang over the edge.
    if (so_far + own > room && i > begin && letter != " ") {
      if (end > begin) {
        so_far -= at_end;
        finish(end);
      } else {
        so_far = 0;
        finish(i);
      }
      at_end = 0;
    }
    so_far += own;
    before = letter;
    i += letter.size();
  }
  out += words.substr(begin);
  trim_end(out);
  return out;
}

}  // namespace waggle::ui
