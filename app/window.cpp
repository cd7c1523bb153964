// SPDX-License-Identifier: MIT
#include "ui/window.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/node/api/api.hpp"
#include "core/node/settings/config.hpp"

#include "app/command.hpp"
#include "app/signals.hpp"
#include "app/switch_source.hpp"
#include "app/window_source.hpp"

namespace waggle::app {
namespace {

struct Flags {
  std::string theme;
  std::string language;
  std::optional<float> size;
  std::string panel;
  std::string link;
};

ui::Language language_of(Flags const& flags, node::WindowSettings const& kept) {
  if (!flags.language.empty()) return ui::language_of_locale(flags.language);
  if (!kept.language.empty()) return ui::language_of_locale(kept.language);
  for (auto const* const name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (auto const* const value = std::getenv(name); value != nullptr && *value != '\0')
      return ui::language_of_locale(value);
  return ui::Language::english;
}

// Flags over what waggle.toml says over the standard.
ui::ShellState state_of(Flags const& flags, node::WindowSettings const& kept) {
  ui::ShellState state;
  auto const& theme = flags.theme.empty() ? kept.theme : flags.theme;
  state.choices.mode = theme == "light" ? ui::Mode::light : ui::Mode::dark;
  state.choices.language = language_of(flags, kept);
  state.choices.size = flags.size.value_or(static_cast<float>(kept.size));
  for (int i = 0; i < ui::kPanelCount; ++i)
    if (auto const panel = static_cast<ui::Panel>(i); flags.panel == ui::name(panel))
      state.panel = panel;
  if (!flags.link.empty()) state.panel = ui::Panel::projects;
  return state;
}

void print(nlohmann::json const& event) {
  std::printf("%s\n", event.dump().c_str());
  std::fflush(stdout);
}

int run(Common const& common, Flags const& flags) {
  signals::catch_interrupts();
  ui::RunOptions options;
  auto const config = node::read_config(common.data_dir);
  options.state = state_of(flags, config.window);
  if (!config.trouble.empty()) options.state.trouble = config.trouble;
  // Whoever runs a node from a shell knows what it is; else it is said once, before anything runs.
  options.state.first_run.open = !config.window.first_run_done && config.trouble.empty() &&
                                 !node::api_get(api_socket(common), "/healthz");
  options.stop = [] { return signals::count() > 0; };
  if (common.json) {
    options.end = [](ui::FrameTimes const& times) {
      print({{"event", "window"},
             {"drawn", times.drawn},
             {"laid_out", times.laid_out},
             {"mean_ms", times.mean_ms},
             {"worst_ms", times.worst_ms},
             {"first_frame_s", times.first_frame_s},
             {"first_frame_at", times.first_frame_at}});
    };
    options.focus = [](std::string const& control) {
      print({{"event", "focus"}, {"control", control}});
    };
  }
  WindowSource source(common, flags.link);
  SwitchSource machines(common, source);
  signals::Listener const listener([] { ui::wake(); });
  auto const done = ui::run(machines, std::move(options));
  if (!done) return fail(common, done.error());
  if (signals::count() > 0) return signals::last_was_term() ? kDone : kInterrupted;
  return kDone;
}

}  // namespace

void add_window(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "window", "Open the window: onto the Waggle that runs here, or to join a task");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command->add_option(
      "link", flags->link, "A task's link: its card is shown; joining is a press in the window");
  command->add_option("--theme", flags->theme, "dark or light [dark]")
      ->check(CLI::IsMember({"dark", "light"}));
  command->add_option("--language", flags->language, "en or zh [the locale's]")
      ->check(CLI::IsMember({"en", "zh"}));
  command->add_option("--size", flags->size, "Of everything, beside the display's own [1]")
      ->check(CLI::Range(0.75, 3.0));
  command->add_option("--panel", flags->panel, "The panel to begin with [home]")
      ->check(CLI::IsMember(
          {"home", "swarm", "learning", "hardware", "projects", "machines", "log", "settings"}));
  add_examples(*command,
               "  waggle window\n  waggle window --language zh --theme light\n"
               "  waggle window --data-dir /srv/waggle --panel swarm\n"
               "  waggle window 'waggle:fashion_resnet?op=…&peer=…'\n");
  command->callback(
      [&common, &chosen, flags] { chosen = [&common, flags] { return run(common, *flags); }; });
}

}  // namespace waggle::app
