// SPDX-License-Identifier: MIT
#include "core/task/definition.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/task/detail/fields.hpp"
#include "core/task/detail/parsing.hpp"

namespace waggle::task {
namespace {

// hivemind strips signatures from values by this text, wherever it stands.
constexpr std::string_view kSignatureMark = "[signature:";

/// toml++ without exceptions runs into its own assertions on some broken texts, so its exceptions
/// end here.
Result<toml::table> parse_table(std::string_view toml, std::string_view file) {
  try {
    return toml::parse(toml, std::string_view{});
  } catch (toml::parse_error const& failure) {
    auto const at = failure.source().begin;
    return Error{Errc::invalid,
                 cat(file, ":", at.line, ":", at.column, ": ", failure.description())};
  } catch (std::exception const& failure) {
    return Error{Errc::invalid, cat(file, ":1:1: ", failure.what())};
  }
}

}  // namespace

bool valid_prefix(std::string_view prefix) noexcept {
  auto const alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (prefix.empty() || prefix.size() > 64 || !alphanumeric(prefix.front())) return false;
  return std::all_of(prefix.begin(), prefix.end(), [&](char c) {
    return alphanumeric(c) || c == '_' || c == '-';
  });
}

Result<Definition> Definition::parse(std::string_view toml, std::string_view file) {
  if (toml.size() > kMaxBytes)
    return Error{Errc::too_large,
                 cat(file, " holds ", toml.size(), " bytes, a task may hold ", kMaxBytes)};
  auto const mark = toml.find(kSignatureMark);
  if (mark != std::string_view::npos) {
    auto const line =
        1 + std::count(toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(mark), '\n');
    return Error{Errc::invalid,
                 cat(file,
                     ":",
                     line,
                     ":1: the text \"",
                     kSignatureMark,
                     "\" may not stand in a task: hivemind peers would cut it out")};
  }
  WAGGLE_TRY(auto const table, parse_table(toml, file));
  Definition definition;
  detail::Places places(file);
  WAGGLE_TRY_STATUS(detail::read_fields(table, places, definition));
  WAGGLE_TRY_STATUS(detail::check_across(definition, places));
  if (definition.to_toml().find(kSignatureMark) != std::string::npos)
    return Error{Errc::invalid,
                 cat(file,
                     ":1:1: the text \"",
                     kSignatureMark,
                     "\" may not stand in a task: hivemind peers would cut it out")};
  return definition;
}

std::string Definition::to_toml() const {
  std::string out;
  std::string_view section;
  for (auto const& field : detail::fields()) {
    if (!detail::applies(field, *this)) continue;
    if (field.section != section) out += cat(out.empty() ? "[" : "\n[", field.section, "]\n");
    section = field.section;
    // 0 means "no fall" there and is the default; the parser wants at least 1.
    if (field.name == "step_every" && train.step_every == 0) continue;
    // Peers of before this field refuse a task that has it, so it travels only where it is used.
    if (field.name == "labels" && data.labels.empty()) continue;
    if (field.name == "preview" && data.preview == 0) continue;
    out += cat(field.name, " = ", detail::value_text(field, *this), "\n");
  }
  return out;
}

std::string Definition::trainer_json() const {
  std::string out = "{";
  std::string_view section;
  for (auto const& field : detail::fields()) {
    if (field.section != "model" && field.section != "data" && field.section != "train") continue;
    // For people: the trainer knows numbers.
    if (field.name == "labels" || field.name == "preview") continue;
    bool const opens = field.section != section;
    if (opens) out += cat(section.empty() ? "\"" : "},\"", field.section, "\":{");
    section = field.section;
    // TOML's basic strings, numbers, booleans and lists, as value_text writes them, are JSON.
    out += cat(opens ? "\"" : ",\"", field.name, "\":", detail::value_text(field, *this));
  }
  return out + "}}";
}

std::string Definition::field_help() {
  Definition const defaults;
  std::string out;
  std::string_view section;
  for (auto const& field : detail::fields()) {
    if (field.section != section) out += cat(out.empty() ? "[" : "\n[", field.section, "]\n");
    section = field.section;
    out += cat("  ", field.name, ": ", expectation(field));
    if (field.required)
      out += "; required";
    else if (field.name != "step_every")
      out += cat("; default ", detail::value_text(field, defaults));
    if (!field.when.section.empty())
      out += cat("; only for ", field.when.name, " ", field.when.value);
    out += cat("\n      ", field.help, "\n");
  }
  return out;
}

}  // namespace waggle::task
