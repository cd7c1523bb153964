// SPDX-License-Identifier: MIT
#include "core/node/settings/detail/toml_edit.hpp"

#include <algorithm>
#include <optional>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/task/strict_toml.hpp"

namespace waggle::node::detail {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Name {
  std::string_view table;  // empty: the top level
  std::string_view key;
};

Name split(std::string_view name) {
  auto const dot = name.find('.');
  if (dot == std::string_view::npos) return {{}, name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class Text {
 public:
  explicit Text(std::string_view toml)
      : text_(toml), root_(toml::parse(toml, std::string_view{})) {}

  toml::table const& root() const { return root_; }

  toml::node const* find(Name const& name) const {
    if (name.table.empty()) return root_.get(name.key);
    auto const* const table = root_.get_as<toml::table>(name.table);
    return table == nullptr ? nullptr : table->get(name.key);
  }

  /// Columns count letters, the text has bytes.
  std::size_t offset(toml::source_position at) const {
    std::size_t here = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    for (auto line = at.line; line > 1; --line) here = text_.find('\n', here) + 1;
    for (auto column = at.column; column > 1; --column) here = utf8_next(text_, here);
    return here;
  }

  std::size_t begin(toml::node const& node) const { return offset(node.source().begin); }

  std::size_t end(toml::node const& node) const { return offset(node.source().end); }

  std::size_t line_begin(std::size_t at) const {
    if (at == 0) return 0;
    auto const before = text_.rfind('\n', at - 1);
    return before == std::string::npos ? 0 : before + 1;
  }

  /// Behind the line's end.
  std::size_t line_end(std::size_t at) const {
    auto const end = text_.find('\n', at);
    return end == std::string::npos ? text_.size() : end + 1;
  }

  bool has_header(toml::table const& table) const {
    return !table.is_inline() && text_.compare(begin(table), 1, "[") == 0;
  }

  /// Behind the last line of what stands directly in `table`, dotted keys too; nothing: it is
  /// empty.
  std::optional<std::size_t> last_line(toml::table const& table) const {
    std::optional<std::size_t> last;
    for (auto const& [key, node] : table) {
      std::optional<std::size_t> here;
      auto const* const inner = node.as_table();
      if (inner != nullptr && !inner->is_inline())
        here = has_header(*inner) ? std::nullopt : last_line(*inner);
      else
        here = line_end(end(node) - 1);
      if (here) last = std::max(last.value_or(0), *here);
    }
    return last;
  }

  std::string replaced(std::size_t from, std::size_t to, std::string_view by) const {
    auto out = text_;
    return out.replace(from, to - from, by);
  }

  /// With a line of its own at `at`, where a line begins or the text ends.
  std::string with_line(std::size_t at, std::string const& line) const {
    bool const unfinished = at > 0 && text_[at - 1] != '\n';
    return replaced(at, at, cat(unfinished ? newline() : "", line, newline()));
  }

  std::string_view newline() const {
    return text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  }

  std::string const& text() const { return text_; }

  /// Where the top level ends: before the first table and what is said above it.
  std::size_t top_level_end() const {
    auto first = text_.size();
    for (auto const& [key, node] : root_)
      if (auto const* const table = node.as_table(); table != nullptr && has_header(*table))
        first = std::min(first, begin(*table));
    if (first == text_.size()) return first;
    auto at = line_begin(first);
    while (at > 0 && text_[line_begin(at - 1)] == '#') at = line_begin(at - 1);
    return at;
  }

 private:
  std::string text_;
  toml::table root_;
};

}  // namespace

std::string with_key(std::string_view toml, std::string_view name, std::string_view literal) {
  Text const text(toml);
  auto const at = split(name);
  if (auto const* const node = text.find(at))
    return text.replaced(text.begin(*node), text.end(*node), literal);
  auto const line = cat(at.key, " = ", literal);
  if (at.table.empty()) {
    if (auto const last = text.last_line(text.root())) return text.with_line(*last, line);
    auto const end = text.top_level_end();
    bool const more = end < text.text().size();
    return text.with_line(end, more ? cat(line, text.newline()) : line);
  }
  auto const* const table = text.root().get_as<toml::table>(at.table);
  if (table == nullptr) {
    bool const alone = text.text().empty();
    return text.with_line(
        text.text().size(),
        cat(alone ? "" : text.newline(), "[", at.table, "]", text.newline(), line));
  }
  if (table->is_inline()) {
    auto const brace = text.end(*table) - 1;
    auto const behind = text.text().find_last_not_of(" \t", brace - 1) + 1;
    return text.replaced(behind, brace, cat(table->empty() ? " " : ", ", line, " "));
  }
  if (!text.has_header(*table))
    return text.with_line(text.last_line(*table).value_or(text.top_level_end()),
                          cat(at.table, ".", line));
  auto const header = text.line_end(text.end(*table) - 1);
  return text.with_line(text.last_line(*table).value_or(header), line);
}

std::string without_key(std::string_view toml, std::string_view name, std::string_view standard) {
  Text const text(toml);
  auto const at = split(name);
  auto const* const node = text.find(at);
  if (node == nullptr) return text.text();
  auto const begin = text.line_begin(text.begin(*node));
  auto const end = text.line_end(text.end(*node) - 1);
  std::string_view const all = text.text();
  auto before = all.substr(begin, text.begin(*node) - begin);
  auto after = all.substr(text.end(*node), end - text.end(*node));
  auto const key = before.find_first_not_of(" \t");
  bool const first =
      key != std::string_view::npos && before.substr(key).starts_with(at.key) &&
      before.substr(key + at.key.size()).find_first_not_of(" \t=") == std::string_view::npos;
  if (first && after.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return text.replaced(begin, end, "");
  return text.replaced(text.begin(*node), text.end(*node), standard);
}

}  // namespace waggle::node::detail
