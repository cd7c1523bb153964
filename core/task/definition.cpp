// SPDX-License-Identifier: MIT
#include "core/task/definition.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.hpp"
#include "core/task/detail/fields.hpp"
#include "core/task/strict_toml.hpp"

namespace waggle::task {
namespace {

using detail::Field;

// A larger model is refused before anything is allocated for it.
constexpr double kMaxParameters = 2e10;
constexpr std::size_t kMaxFileName = 200;
// hivemind strips signatures from values by this text, wherever it stands.
constexpr std::string_view kSignatureMark = "[signature:";

/// Long texts of strangers are cut in messages.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (char const c : text.substr(0, kShown)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (text.size() > kShown ? "…\"" : "\"");
}

std::string shown(toml::node const& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return shown(node.as_string()->get());
    case toml::node_type::integer:
      return cat(node.as_integer()->get());
    case toml::node_type::floating_point:
      return cat(node.as_floating_point()->get());
    case toml::node_type::boolean:
      return cat(node.as_boolean()->get());
    case toml::node_type::array:
      return cat("a list of ", node.as_array()->size());
    case toml::node_type::table:
      return "a section";
    default:
      return "a date or time";
  }
}

class Parser {
 public:
  Parser(std::string_view file, Definition& out) : file_(file), out_(out) {}

  Status run(toml::table const& root) {
    for (auto&& [name, node] : root) WAGGLE_TRY_STATUS(section(name.str(), node));
    for (auto const& field : detail::fields())
      if (field.required && !places_.contains(&field))
        return error(places_section(field),
                     cat(field.section,
                         ".",
                         field.name,
                         ": expected ",
                         expectation(field),
                         ", found nothing"));
    for (auto const& [field, place] : places_)
      if (!detail::applies(*field, out_))
        return error(place,
                     cat(field->section,
                         ".",
                         field->name,
                         ": only where ",
                         field->when.section,
                         ".",
                         field->when.name,
                         " is ",
                         field->when.value,
                         "; take it out"));
    return across();
  }

 private:
  Error error(toml::source_region const& where, std::string const& what) const {
    auto const line = where.begin.line;
    return Error{Errc::invalid,
                 cat(file_, ":", line ? line : 1, ":", line ? where.begin.column : 1, ": ", what)};
  }

  Error error(std::string_view section, std::string_view name, std::string const& what) const {
    auto const* field = detail::find_field(section, name);
    auto const place = places_.find(field);
    auto const& where = place == places_.end() ? places_section(*field) : place->second;
    return error(where, cat(section, ".", name, ": ", what));
  }

  toml::source_region const& places_section(Field const& field) const {
    static toml::source_region const nowhere{};
    auto const found = sections_.find(field.section);
    return found == sections_.end() ? nowhere : found->second;
  }

  Status section(std::string_view name, toml::node const& node) {
    std::vector<std::string_view> known;
    for (auto const& field : detail::fields())
      if (known.empty() || known.back() != field.section) known.push_back(field.section);
    bool const is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!is_known || !node.is_table()) {
      auto const guess = detail::nearest(name, known);
      std::string list;
      for (auto const one : known) list += cat(list.empty() ? "[" : ", [", one, "]");
      if (is_known)
        return error(node.source(),
                     cat(name, ": expected the section [", name, "], found ", shown(node)));
      return error(node.source(),
                   cat(shown(name),
                       ": expected one of ",
                       list,
                       ", found something else",
                       guess.empty() ? std::string() : cat("; did you mean ", guess, "?")));
    }
    sections_[detail::fields()[index_of(name)].section] = node.source();
    for (auto&& [key, value] : *node.as_table()) {
      auto const* field = detail::find_field(name, key.str());
      if (!field) return unknown(name, key.str(), key.source());
      places_[field] = value.source();
      WAGGLE_TRY_STATUS(assign(*field, value));
    }
    return ok();
  }

  static std::size_t index_of(std::string_view section) {
    std::size_t i = 0;
    while (detail::fields()[i].section != section) ++i;
    return i;
  }

  Error unknown(std::string_view section,
                std::string_view name,
                toml::source_region const& where) const {
    std::vector<std::string_view> names;
    std::string elsewhere;
    for (auto const& field : detail::fields()) {
      if (field.section == section) names.push_back(field.name);
      if (field.name == name) elsewhere = cat("; it belongs into [", field.section, "]");
    }
    auto const guess = detail::nearest(name, names);
    if (elsewhere.empty() && !guess.empty()) elsewhere = cat("; did you mean ", guess, "?");
    return error(where,
                 cat(section,
                     ".",
                     name.substr(0, 64),
                     ": expected a known field, found an unknown one",
                     elsewhere));
  }

  Error wrong(Field const& field, toml::node const& node) const {
    return error(node.source(),
                 cat(field.section,
                     ".",
                     field.name,
                     ": expected ",
                     expectation(field),
                     ", found ",
                     shown(node)));
  }

  static bool in_range(Field const& field, double value) {
    auto const& a = field.allowed;
    return (a.above_low ? value > a.low : value >= a.low) &&
           (a.below_high ? value < a.high : value <= a.high);
  }

  Status assign(Field const& field, toml::node const& node) {
    auto const slot = field.slot(out_);
    if (auto* const* text = std::get_if<std::string*>(&slot))
      return assign_text(field, node, **text);
    if (auto* const* whole = std::get_if<std::int64_t*>(&slot)) {
      auto const* value = node.as_integer();
      if (!value) return wrong(field, node);
      if (!field.allowed.choices.empty()) {
        auto const choices = detail::words(field.allowed.choices);
        if (std::find(choices.begin(), choices.end(), cat(value->get())) == choices.end())
          return wrong(field, node);
      } else if (!in_range(field, static_cast<double>(value->get()))) {
        return wrong(field, node);
      }
      **whole = value->get();
      return ok();
    }
    if (auto* const* number = std::get_if<double*>(&slot)) {
      auto const value = node.value<double>();
      if (!node.is_number() || !value || !in_range(field, *value)) return wrong(field, node);
      **number = *value;
      return ok();
    }
    if (auto* const* flag = std::get_if<bool*>(&slot)) {
      auto const* value = node.as_boolean();
      if (!value) return wrong(field, node);
      **flag = value->get();
      return ok();
    }
    auto const* list = node.as_array();
    if (!list || !in_range(field, static_cast<double>(list->size()))) return wrong(field, node);
    for (auto const& item : *list) {
      if (auto* const* texts = std::get_if<std::vector<std::string>*>(&slot)) {
        auto const* value = item.as_string();
        if (!value) return wrong(field, item);
        (*texts)->push_back(value->get());
      } else {
        auto const value = item.value<double>();
        if (!item.is_number() || !value || !std::isfinite(*value)) return wrong(field, item);
        std::get<std::vector<double>*>(slot)->push_back(*value);
      }
    }
    return ok();
  }

  Status assign_text(Field const& field, toml::node const& node, std::string& out) const {
    auto const* value = node.as_string();
    if (!value) return wrong(field, node);
    auto const& text = value->get();
    if (text.find('\0') != std::string::npos) return wrong(field, node);
    if (field.allowed.choices.empty()) {
      if (!in_range(field, static_cast<double>(text.size()))) return wrong(field, node);
      out = text;
      return ok();
    }
    auto const choices = detail::words(field.allowed.choices);
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
      out = text;
      return ok();
    }
    auto const later = detail::words(field.allowed.later);
    if (std::find(later.begin(), later.end(), text) != later.end())
      return error(node.source(),
                   cat(field.section,
                       ".",
                       field.name,
                       ": expected ",
                       expectation(field),
                       ", found ",
                       shown(text),
                       ", which this version of Waggle does not train yet"));
    auto const guess = detail::nearest(text, choices);
    return error(node.source(),
                 cat(field.section,
                     ".",
                     field.name,
                     ": expected ",
                     expectation(field),
                     ", found ",
                     shown(text),
                     guess.empty() ? std::string() : cat("; did you mean ", guess, "?")));
  }

  /// What one field alone cannot say.
  Status across() const {
    auto const& d = out_;
    if (!valid_prefix(d.prefix))
      return error(
          "task", "prefix", cat("expected [a-z0-9][a-z0-9_-]{0,63}, found ", shown(d.prefix)));
    WAGGLE_TRY_STATUS(model());
    WAGGLE_TRY_STATUS(files());
    auto const& t = d.train;
    if (t.nesterov && t.momentum == 0)
      return error("train", "nesterov", "expected momentum above 0 beside it, found momentum = 0");
    if ((t.schedule == "cosine" || t.schedule == "linear") && t.total_epochs == 0)
      return error(
          "train",
          "schedule",
          cat("expected total_epochs above 0 beside \"", t.schedule, "\", found ", t.total_epochs));
    if (t.schedule == "step" && t.step_every == 0)
      return error("train", "schedule", "expected step_every beside \"step\", found none");
    if (t.total_epochs > 0 && t.warmup_epochs >= t.total_epochs)
      return error(
          "train",
          "warmup_epochs",
          cat("expected less than total_epochs (", t.total_epochs, "), found ", t.warmup_epochs));
    if (t.micro_batch > d.swarm.target_batch_size)
      return error("train",
                   "micro_batch",
                   cat("expected at most swarm.target_batch_size (",
                       d.swarm.target_batch_size,
                       "), found ",
                       t.micro_batch));
    return ok();
  }

  Status model() const {
    auto const& m = out_.model;
    bool const images = m.family == "resnet";
    if (images != (out_.data.format == "idx-images"))
      return error("data",
                   "format",
                   cat("expected ",
                       images ? "idx-images" : "text",
                       " for family ",
                       m.family,
                       ", found ",
                       out_.data.format));
    if (!images) {
      if (m.embedding % m.heads != 0)
        return error("model",
                     "heads",
                     cat("expected a divisor of embedding (", m.embedding, "), found ", m.heads));
      auto const e = static_cast<double>(m.embedding);
      double const parameters = 12 * static_cast<double>(m.layers) * e * e +
                                e * static_cast<double>(m.vocabulary + m.context);
      if (parameters > kMaxParameters)
        return error(
            "model",
            "embedding",
            cat("expected a model of at most ", kMaxParameters, " parameters, found ", parameters));
      return ok();
    }
    for (auto const* name : {"mean", "std"}) {
      auto const& values = name[0] == 'm' ? out_.data.mean : out_.data.std;
      if (!values.empty() && static_cast<std::int64_t>(values.size()) != m.in_channels)
        return error("data",
                     name,
                     cat("expected one number a channel (model.in_channels is ",
                         m.in_channels,
                         "), found ",
                         values.size()));
    }
    for (double const value : out_.data.std)
      if (!(value > 0)) return error("data", "std", cat("expected numbers above 0, found ", value));
    return ok();
  }

  Status files() const {
    auto const& d = out_.data;
    if (d.format == "idx-images") {
      if (d.train.size() != 2)
        return error("data",
                     "train",
                     cat("expected an images file and a labels file, found ", d.train.size()));
      if (d.test.size() != 2)
        return error("data",
                     "test",
                     cat("expected an images file and a labels file, found ", d.test.size()));
    }
    std::set<std::string_view> seen;
    for (auto const* list : {&d.train, &d.test}) {
      auto const* name = list == &d.train ? "train" : "test";
      for (auto const& file : *list) {
        bool const plain =
            !file.empty() && file.size() <= kMaxFileName && file.front() != '.' &&
            std::none_of(file.begin(), file.end(), [](char c) {
              return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
            });
        if (!plain)
          return error(
              "data",
              name,
              cat("expected a plain file name (no folder, no leading dot), found ", shown(file)));
        if (!seen.insert(file).second)
          return error("data", name, cat("expected each file once, found ", shown(file), " again"));
      }
    }
    return ok();
  }

  std::string_view file_;
  Definition& out_;
  std::map<Field const*, toml::source_region> places_;
  std::map<std::string_view, toml::source_region> sections_;
};

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
  WAGGLE_TRY_STATUS(Parser(file, definition).run(table));
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
    out += cat(field.name, " = ", detail::value_text(field, *this), "\n");
  }
  return out;
}

std::string Definition::trainer_json() const {
  std::string out = "{";
  std::string_view section;
  for (auto const& field : detail::fields()) {
    if (field.section != "model" && field.section != "data" && field.section != "train") continue;
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
