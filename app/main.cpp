// SPDX-License-Identifier: MIT
// The whole program in one screen: name the subcommands, parse, run the one that was chosen.
#include <cstdio>
#include <cstdlib>

#include "core/node/options.hpp"

#include "app/command.hpp"
#include "app/version.hpp"

int main(int argc, char** argv) {
  using namespace waggle::app;
  CLI::App app{
      "Waggle: strangers' computers train a neural network together, with no server in the middle.",
      "waggle"};
  app.set_version_flag("--version", version_text, "Tell version, commit and libtorch");
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n"
      "  waggle demo                                   four processes on this machine train "
      "together\n"
      "  waggle run 'waggle:fashion_resnet?op=…&peer=…'  join a task by its link\n"
      "  waggle publish task.toml                      publish a task and print its link\n"
      "  waggle status                                 what the running program does\n");

  Common common;
  common.data_dir = waggle::node::default_data_dir();
  Action chosen;
  for (auto const add : {
           add_run,       add_publish,        add_node,     add_demo,        add_status,
           add_control,   add_join,           add_settings, add_monitor,     add_pair,
           add_machines,  add_export,         add_leave,    add_key,         add_doctor,
           add_logs,      add_report,         add_web,      add_completions, add_autostart,
           add_uninstall, add_release_notice,
#ifdef WAGGLE_GUI
           add_window,
#endif
       })
    add(app, common, chosen);

  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    return app.exit(e);
  } catch (CLI::CallForVersion const& e) {
    return app.exit(e);
  } catch (CLI::ParseError const& e) {
    app.exit(e);
    return kUsage;
  }
#ifdef WAGGLE_GUI
  // Alone, where there is a screen: the window.
  if (!chosen && argc == 1 &&
      (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr))
    app.parse("window");
#endif
  if (!chosen) {
    std::fputs(app.help().c_str(), stdout);
    return kUsage;
  }
  return chosen();
}
