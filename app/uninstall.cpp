// SPDX-License-Identifier: MIT
// Removes what the program put onto the machine beside its data: what was unpacked, the entry at
// login; with --data, the data too, after it was listed.
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/device/autostart.hpp"
#include "core/device/installation.hpp"
#include "core/node/removal.hpp"

#include "app/command.hpp"

namespace waggle::app {
namespace {

using Json = nlohmann::json;

struct Flags {
  bool data = false;
  bool yes = false;
};

void say(Common const& common,
         std::string const& what,
         std::string const& path,
         std::uint64_t bytes = 0) {
  if (common.json)
    std::printf("%s\n", Json({{"event", what}, {"path", path}, {"bytes", bytes}}).dump().c_str());
  else if (bytes > 0)
    std::printf(
        "%-8s %s (%.1f MB)\n", what.c_str(), path.c_str(), static_cast<double>(bytes) / 1e6);
  else
    std::printf("%-8s %s\n", what.c_str(), path.c_str());
}

/// Asks before a person's keys are gone; --yes answers.
bool agreed(Flags const& flags) {
  if (flags.yes) return true;
  if (::isatty(STDIN_FILENO) == 0) return false;
  std::fputs("Delete all this, keys and contribution included? Type yes: ", stderr);
  char answer[8] = {};
  return std::fgets(answer, sizeof answer, stdin) != nullptr && std::string(answer) == "yes\n";
}

int remove_data(Common const& common, Flags const& flags) {
  auto const listed = node::list_data(common.data_dir);
  if (!listed && listed.error().code == Errc::not_found) return kDone;
  if (!listed) return fail(common, listed.error());
  for (auto const& entry : *listed)
    say(common,
        entry.ours ? "data" : "not ours",
        (common.data_dir / entry.name).string(),
        entry.bytes);
  if (!agreed(flags))
    return fail(
        common, Error{Errc::refused, "nothing of the data was deleted: say --yes"}, kNeedsChoice);
  auto const left = node::delete_data(common.data_dir);
  if (!left) return fail(common, left.error());
  for (auto const& entry : *left)
    say(common, "stays", (common.data_dir / entry.name).string(), entry.bytes);
  if (left->empty()) say(common, "removed", common.data_dir.string());
  return kDone;
}

int run(Common const& common, Flags const& flags) {
  if (flags.data)
    if (int const done = remove_data(common, flags); done != kDone) return done;
  auto const entry = device::autostart_place();
  if (device::autostart_enabled(entry)) {
    auto const off = device::set_autostart(false, entry);
    if (!off) return fail(common, off.error());
    say(common, "removed", entry.entry.string());
  }
  auto const installed = device::installation();
  if (installed.kind == device::Installation::Kind::single_file) {
    auto const freed = device::remove_unpacked(installed);
    if (!freed) return fail(common, freed.error());
    say(common, "removed", installed.unpacked.string(), *freed);
  }
  // What is left is the person's to delete: the file that they fetched, or the package manager's.
  if (installed.kind == device::Installation::Kind::package)
    say(common, "stays", "the package: apt remove waggle");
  else
    say(common, "stays", installed.program.string());
  if (!flags.data)
    if (auto const listed = node::list_data(common.data_dir); listed) {
      std::uint64_t bytes = 0;
      for (auto const& one : *listed) bytes += one.bytes;
      say(common, "stays", common.data_dir.string() + " (delete it with --data)", bytes);
    }
  return kDone;
}

}  // namespace

void add_uninstall(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "uninstall", "Remove what Waggle unpacked and its start at login; keep the data");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command->add_flag("--data", flags->data, "Delete the data directory too, after listing it");
  command->add_flag("--yes", flags->yes, "Do not ask before data is deleted");
  add_examples(*command, "  waggle uninstall\n  waggle uninstall --data\n");
  command->callback(
      [&common, &chosen, flags] { chosen = [&common, flags] { return run(common, *flags); }; });
}

}  // namespace waggle::app
