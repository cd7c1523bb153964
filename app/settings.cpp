// SPDX-License-Identifier: MIT
// set, settings: what waggle.toml says, changed and listed, with a running node or without.
#include "core/node/settings/settings.hpp"

#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/node/api/api.hpp"
#include "core/node/api/snapshot_json.hpp"

#include "app/command.hpp"

namespace waggle::app {
namespace {

using Json = nlohmann::ordered_json;

/// What holds: as the running node has it, its flags too, else as the file says. `running` tells
/// which.
Result<std::vector<node::SettingView>> what_holds(Common const& common, bool& running) {
  auto const body = node::api_get(api_socket(common), "/v1/snapshot");
  running = false;
  if (body)
    if (auto snapshot = node::snapshot_from_json(*body); snapshot && !snapshot->settings.empty()) {
      running = true;
      return std::move(snapshot->settings);
    }
  WAGGLE_TRY(auto const file, node::read_literals(common.data_dir));
  return node::list_settings(file, {});
}

std::string where_from(node::SettingView const& setting) {
  if (!setting.why.empty()) return cat("  (", setting.why, ')');
  if (setting.from == "flag") return "  (a flag of the running node)";
  return setting.from == "default" ? "  (standard)" : "";
}

int list(Common const& common) {
  bool running = false;
  auto const all = what_holds(common, running);
  if (!all) return fail(common, all.error());
  if (common.json) {
    Json settings = Json::array();
    for (auto const& s : *all)
      settings.push_back({{"name", s.name},
                          {"value", s.value},
                          {"standard", s.standard},
                          {"from", s.from},
                          {"live", s.live},
                          {"why", s.why}});
    std::printf("%s\n",
                Json({{"running", running}, {"settings", std::move(settings)}})
                    .dump(-1, ' ', false, Json::error_handler_t::replace)
                    .c_str());
    return kDone;
  }
  for (auto const& s : *all)
    std::printf("%-22s %s%s\n", s.name.c_str(), s.value.c_str(), where_from(s).c_str());
  std::printf("\n%s; `waggle set NAME VALUE` changes one.\n",
              (common.data_dir / "waggle.toml").c_str());
  return kDone;
}

// What there is to say beside "done": nothing if it counts already.
std::string when_it_counts(Common const& common, node::Setting const& setting) {
  bool running = false;
  auto const all = what_holds(common, running);
  if (!all || !running) return {};
  for (auto const& s : *all)
    if (s.name == setting.name && s.from == "flag")
      return "the running node has it from a flag: it counts from the next start without one";
  if (setting.live) return {};
  if (setting.name.starts_with("window.")) return "it counts from the window's next start";
  return "it counts from the node's next start";
}

int set(Common const& common, std::string const& name, std::string const& value) {
  auto const* const setting = node::find_setting(name);
  // The node writes its own file, which may belong to another user than the one who asks.
  auto taken = node::api_post(api_socket(common),
                              {.kind = node::Command::Kind::set, .name = name, .value = value});
  if (!taken && taken.error().code == Errc::not_found) {
    auto const changed = node::change_setting(common.data_dir, name, value);
    if (!changed) return fail(common, changed.error());
    taken = node::Taken{.carried_out = true, .kept = true};
  }
  if (!taken) return fail(common, taken.error());
  auto const note = setting == nullptr ? std::string() : when_it_counts(common, *setting);
  if (common.json)
    std::printf("%s\n",
                Json({{"ok", true},
                      {"name", name},
                      {"note", note},
                      {"carried_out", taken->carried_out},
                      {"kept", taken->kept}})
                    .dump(-1, ' ', false, Json::error_handler_t::replace)
                    .c_str());
  else
    std::printf("%s is set%s%s\n", name.c_str(), note.empty() ? "" : "; ", note.c_str());
  say_what_is_left(*taken);
  return kDone;
}

}  // namespace

void add_settings(CLI::App& app, Common& common, Action& chosen) {
  auto* const show =
      app.add_subcommand("settings", "List every setting of waggle.toml with what holds");
  add_common(*show, common);
  add_examples(*show, "  waggle settings\n  waggle settings --json | jq .settings\n");
  show->callback([&common, &chosen] { chosen = [&common] { return list(common); }; });

  auto* const change = app.add_subcommand(
      "set", "Change a setting in waggle.toml; a running node follows by itself");
  add_common(*change, common);
  auto const words = std::make_shared<std::pair<std::string, std::string>>();
  change->add_option("name", words->first, "As `waggle settings` lists it")->required();
  change->add_option("value", words->second, "As TOML writes it, or a word; \"\": the standard")
      ->required();
  add_examples(*change,
               "  waggle set power light\n"
               "  waggle set guest.on_battery true\n"
               "  waggle set guest.quiet_hours '[\"22:00-07:00\", \"sat,sun 10:00-12:00\"]'\n"
               "  waggle set power ''\n");
  change->callback([&common, &chosen, words] {
    chosen = [&common, words] { return set(common, words->first, words->second); };
  });
}

}  // namespace waggle::app
