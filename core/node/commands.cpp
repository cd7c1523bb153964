// SPDX-License-Identifier: MIT
#include "core/node/commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/task/link.hpp"

namespace waggle::node {
namespace {

constexpr std::array<std::pair<std::string_view, Command::Kind>, 12> kKinds{{
    {"pause", Command::Kind::pause},
    {"resume", Command::Kind::resume},
    {"finish", Command::Kind::finish},
    {"stop", Command::Kind::stop},
    {"measure", Command::Kind::measure},
    {"set", Command::Kind::set},
    {"join", Command::Kind::join},
    {"leave", Command::Kind::leave},
    {"look", Command::Kind::look},
    {"browse", Command::Kind::browse},
    {"pair", Command::Kind::pair},
    {"unpair", Command::Kind::unpair},
}};

struct TextField {
  std::string_view name;
  std::string Command::*member;
};

constexpr std::array<TextField, 4> kTextFields{{
    {"prefix", &Command::prefix},
    {"link", &Command::link},
    {"name", &Command::name},
    {"value", &Command::value},
}};

TextField const* text_field(std::string_view name) {
  auto const* const at = std::ranges::find(kTextFields, name, &TextField::name);
  return at == kTextFields.end() ? nullptr : at;
}

/// Errors: invalid (a field that this kind needs is missing).
Status check(Command const& command) {
  using Kind = Command::Kind;
  if ((command.kind == Kind::join || command.kind == Kind::look) && command.link.empty())
    return Error{Errc::invalid, "join and look need a \"link\""};
  if (!command.link.empty()) WAGGLE_TRY_STATUS(task::Link::parse(command.link));
  if (command.kind == Kind::pair && (command.name.empty() || command.value.empty()))
    return Error{Errc::invalid,
                 "pair needs a \"name\" (watch or control) and a \"value\" (the code)"};
  if (command.kind == Kind::leave && command.prefix.empty())
    return Error{Errc::invalid, "leave needs a \"prefix\""};
  if (command.at_epoch && *command.at_epoch < 1)
    return Error{Errc::invalid, "\"at_epoch\" is an epoch from 1 on"};
  if (command.kind == Kind::set && command.name.empty())
    return Error{Errc::invalid, "set needs a \"name\""};
  return ok();
}

}  // namespace

Result<Command> Command::from_json(std::string_view text) {
  auto const json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Error{Errc::malformed, "a command is a JSON object like {\"command\": \"pause\"}"};
  Command command{.kind = Kind::pause};
  bool known = false;
  for (auto const& [key, value] : json.items()) {
    if (key == "command" && value.is_string()) {
      for (auto const& [word, kind] : kKinds)
        if (value.get_ref<std::string const&>() == word) {
          command.kind = kind;
          known = true;
        }
    } else if (auto const* const field = text_field(key); field != nullptr && value.is_string()) {
      command.*(field->member) = value.get<std::string>();
    } else if (key == "at_epoch" && value.is_number_integer()) {
      command.at_epoch = value.get<std::int64_t>();
    } else {
      return Error{Errc::invalid, cat("command: unknown field or wrong type: \"", key, "\"")};
    }
  }
  if (!known)
    return Error{Errc::invalid,
                 "command must be one of pause, resume, finish, stop, measure, set, join, leave, "
                 "look, browse, pair, unpair"};
  WAGGLE_TRY_STATUS(check(command));
  return command;
}

std::string Command::to_json() const {
  nlohmann::json json;
  for (auto const& [word, k] : kKinds)
    if (k == kind) json["command"] = word;
  for (auto const& [field, member] : kTextFields)
    if (auto const& text = this->*member; !text.empty()) json[std::string(field)] = text;
  if (at_epoch) json["at_epoch"] = *at_epoch;
  // What a person types may be no UTF-8.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Taken> Taken::from_json(std::string_view text) {
  auto const json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{Errc::malformed, "a command's answer is a JSON object"};
  auto const says = [&json](char const* name) {
    auto const at = json.find(name);
    return at != json.end() && at->is_boolean() && at->get<bool>();
  };
  return Taken{says("carried_out"), says("kept")};
}

std::string Taken::to_json() const {
  nlohmann::ordered_json const json = {{"ok", true}, {"carried_out", carried_out}, {"kept", kept}};
  return json.dump();
}

bool Command::names(std::string_view operator_id, std::string_view task_prefix) const {
  return prefix.empty() || prefix == task_prefix || prefix == cat(operator_id, '/', task_prefix);
}

}  // namespace waggle::node
