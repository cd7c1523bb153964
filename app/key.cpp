// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/node/keys.hpp"

#include "app/command.hpp"

namespace waggle::app {
namespace {

struct Flags {
  std::string name = "identity";
  std::filesystem::path file;
};

void print(Common const& common, node::KeyInfo const& key) {
  if (common.json)
    std::printf("%s\n",
                nlohmann::json({{"ok", true}, {"name", key.name}, {"peer_id", key.peer_id}})
                    .dump()
                    .c_str());
  else
    std::printf("%-16s %s\n", key.name.c_str(), key.peer_id.c_str());
}

int list(Common const& common) {
  auto const keys = node::list_keys(common.data_dir);
  if (!keys) return fail(common, keys.error());
  if (keys->empty() && !common.json) std::printf("no keys yet in %s\n", common.data_dir.c_str());
  for (auto const& key : *keys) print(common, key);
  return kDone;
}

using Move = Result<node::KeyInfo> (*)(std::filesystem::path const&,
                                       std::string const&,
                                       std::filesystem::path const&);

void add_move(CLI::App& command,
              char const* word,
              char const* text,
              Move move,
              Common& common,
              Action& chosen) {
  auto* const sub = command.add_subcommand(word, text);
  add_common(*sub, common);
  auto const flags = std::make_shared<Flags>();
  sub->add_option("file", flags->file, "The key file")->required();
  sub->add_option("--name", flags->name, "identity, or an operator's name")->capture_default_str();
  sub->callback([&common, &chosen, flags, move] {
    chosen = [&common, flags, move]() -> int {
      auto const key = move(common.data_dir, flags->name, flags->file);
      if (!key) return fail(common, key.error());
      print(common, *key);
      return kDone;
    };
  });
}

}  // namespace

void add_key(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("key", "Show, export or import this data directory's keys");
  add_common(*command, common);
  command->require_subcommand(0, 1);
  add_move(*command,
           "export",
           "Copy a key out, to a new file only you can read",
           node::export_key,
           common,
           chosen);
  add_move(*command,
           "import",
           "Take a key in; an existing one is never replaced",
           node::import_key,
           common,
           chosen);
  add_examples(*command,
               "  waggle key\n  waggle key export --name default operator-backup.key\n  waggle key "
               "import --name default operator-backup.key\n");
  command->callback([&common, &chosen, command] {
    if (command->get_subcommands().empty()) chosen = [&common] { return list(common); };
  });
}

}  // namespace waggle::app
