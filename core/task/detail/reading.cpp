// SPDX-License-Identifier: MIT
// One field at a time: from TOML into its slot, or an error that says where and what was expected.
#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/task/detail/parsing.hpp"

namespace waggle::task::detail {

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (char const c : utf8_prefix(text, kShown))
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (text.size() > kShown ? "…\"" : "\"");
}

Error Places::error(toml::source_region const& where, std::string const& what) const {
  auto const line = where.begin.line;
  return Error{Errc::invalid,
               cat(file_, ":", line ? line : 1, ":", line ? where.begin.column : 1, ": ", what)};
}

Error Places::error(std::string_view section,
                    std::string_view name,
                    std::string const& what) const {
  auto const* field = find_field(section, name);
  auto const place = fields_.find(field);
  auto const& where = place == fields_.end() ? section_of(*field) : place->second;
  return error(where, cat(section, ".", name, ": ", what));
}

toml::source_region const& Places::section_of(Field const& field) const {
  static toml::source_region const nowhere{};
  auto const found = sections_.find(field.section);
  return found == sections_.end() ? nowhere : found->second;
}

namespace {

std::string shown_node(toml::node const& node) {
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

class Reader {
 public:
  Reader(Places& places, Definition& out) : places_(places), out_(out) {}

  Status run(toml::table const& root) {
    for (auto&& [name, node] : root) WAGGLE_TRY_STATUS(section(name.str(), node));
    for (auto const& field : fields())
      if (field.required && !places_.fields().contains(&field))
        return places_.error(places_.section_of(field),
                             cat(field.section,
                                 ".",
                                 field.name,
                                 ": expected ",
                                 expectation(field),
                                 ", found nothing"));
    for (auto const& [field, place] : places_.fields())
      if (!applies(*field, out_))
        return places_.error(place,
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
    return ok();
  }

 private:
  Status section(std::string_view name, toml::node const& node) {
    std::vector<std::string_view> known;
    for (auto const& field : fields())
      if (known.empty() || known.back() != field.section) known.push_back(field.section);
    bool const is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!is_known || !node.is_table()) {
      auto const guess = nearest(name, known);
      std::string list;
      for (auto const one : known) list += cat(list.empty() ? "[" : ", [", one, "]");
      if (is_known)
        return places_.error(
            node.source(),
            cat(name, ": expected the section [", name, "], found ", shown_node(node)));
      return places_.error(node.source(),
                           cat(shown(name),
                               ": expected one of ",
                               list,
                               ", found something else",
                               guess.empty() ? std::string() : cat("; did you mean ", guess, "?")));
    }
    places_.section(fields()[index_of(name)].section, node.source());
    for (auto&& [key, value] : *node.as_table()) {
      auto const* field = find_field(name, key.str());
      if (!field) return unknown(name, key.str(), key.source());
      places_.field(*field, value.source());
      WAGGLE_TRY_STATUS(assign(*field, value));
    }
    return ok();
  }

  static std::size_t index_of(std::string_view section) {
    std::size_t i = 0;
    while (fields()[i].section != section) ++i;
    return i;
  }

  Error unknown(std::string_view section,
                std::string_view name,
                toml::source_region const& where) const {
    std::vector<std::string_view> names;
    std::string elsewhere;
    for (auto const& field : fields()) {
      if (field.section == section) names.push_back(field.name);
      if (field.name == name) elsewhere = cat("; it belongs into [", field.section, "]");
    }
    auto const guess = nearest(name, names);
    if (elsewhere.empty() && !guess.empty()) elsewhere = cat("; did you mean ", guess, "?");
    return places_.error(where,
                         cat(section,
                             ".",
                             name.substr(0, 64),
                             ": expected a known field, found an unknown one",
                             elsewhere));
  }

  Error wrong(Field const& field, toml::node const& node, std::string const& found) const {
    return places_.error(
        node.source(),
        cat(field.section, ".", field.name, ": expected ", expectation(field), ", found ", found));
  }

  Error wrong(Field const& field, toml::node const& node) const {
    return wrong(field, node, shown_node(node));
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
        auto const choices = words(field.allowed.choices);
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
    auto const choices = words(field.allowed.choices);
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
      out = text;
      return ok();
    }
    auto const later = words(field.allowed.later);
    if (std::find(later.begin(), later.end(), text) != later.end())
      return wrong(
          field, node, cat(shown(text), ", which this version of Waggle does not train yet"));
    auto const guess = nearest(text, choices);
    return wrong(
        field,
        node,
        cat(shown(text), guess.empty() ? std::string() : cat("; did you mean ", guess, "?")));
  }

  Places& places_;
  Definition& out_;
};

}  // namespace

Status read_fields(toml::table const& root, Places& places, Definition& out) {
  return Reader(places, out).run(root);
}

}  // namespace waggle::task::detail
