// SPDX-License-Identifier: MIT
#include "core/node/commands.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

constexpr std::array<std::pair<std::string_view, Command::Kind>, 5> kKinds{{
    {"pause", Command::Kind::pause},
    {"resume", Command::Kind::resume},
    {"finish", Command::Kind::finish},
    {"stop", Command::Kind::stop},
    {"measure", Command::Kind::measure},
}};

}  // namespace

Result<Command> Command::from_json(std::string_view text) {
  auto const json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Error{Errc::malformed, "a command is a JSON object like {\"command\": \"pause\"}"};
  Command command{Kind::pause, {}, {}};
  bool known = false;
  for (auto const& [key, value] : json.items()) {
    if (key == "command" && value.is_string()) {
      for (auto const& [word, kind] : kKinds)
        if (value.get_ref<std::string const&>() == word) {
          command.kind = kind;
          known = true;
        }
    } else if (key == "prefix" && value.is_string()) {
      command.prefix = value.get<std::string>();
    } else if (key == "at_epoch" && value.is_number_integer()) {
      command.at_epoch = value.get<std::int64_t>();
    } else {
      return Error{Errc::invalid, cat("command: unknown field or wrong type: \"", key, "\"")};
    }
  }
  if (!known)
    return Error{Errc::invalid, "command must be one of pause, resume, finish, stop, measure"};
  return command;
}

std::string Command::to_json() const {
  nlohmann::json json;
  for (auto const& [word, k] : kKinds)
    if (k == kind) json["command"] = word;
  if (!prefix.empty()) json["prefix"] = prefix;
  if (at_epoch) json["at_epoch"] = *at_epoch;
  return json.dump();
}

}  // namespace waggle::node
