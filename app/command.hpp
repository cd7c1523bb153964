// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "core/base/result.hpp"
#include "core/node/commands.hpp"

namespace waggle::app {

/// Exit codes, fixed: scripts switch on them.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2, kNeedsChoice = 3, kInterrupted = 130 };

/// Options that every subcommand has.
struct Common {
  std::filesystem::path data_dir;
  bool json = false;
  bool verbose = false;
};

/// The subcommand that was named on the command line, ready to run.
using Action = std::function<int()>;

/// Each adds its subcommand to `app`; parsing it sets `chosen`. `common` outlives both.
void add_run(CLI::App& app, Common& common, Action& chosen);
void add_publish(CLI::App& app, Common& common, Action& chosen);
void add_node(CLI::App& app, Common& common, Action& chosen);
void add_demo(CLI::App& app, Common& common, Action& chosen);
void add_status(CLI::App& app, Common& common, Action& chosen);
void add_control(CLI::App& app, Common& common, Action& chosen);  ///< pause, resume, finish
void add_join(CLI::App& app, Common& common, Action& chosen);
void add_settings(CLI::App& app, Common& common, Action& chosen);  ///< set, settings
void add_monitor(CLI::App& app, Common& common, Action& chosen);
void add_export(CLI::App& app, Common& common, Action& chosen);
void add_leave(CLI::App& app, Common& common, Action& chosen);
void add_key(CLI::App& app, Common& common, Action& chosen);
void add_logs(CLI::App& app, Common& common, Action& chosen);
void add_report(CLI::App& app, Common& common, Action& chosen);
void add_web(CLI::App& app, Common& common, Action& chosen);
void add_completions(CLI::App& app, Common& common, Action& chosen);
void add_doctor(CLI::App& app, Common& common, Action& chosen);
void add_pair(CLI::App& app, Common& common, Action& chosen);
void add_machines(CLI::App& app, Common& common, Action& chosen);
void add_autostart(CLI::App& app, Common& common, Action& chosen);
void add_release_notice(CLI::App& app, Common& common, Action& chosen);
void add_uninstall(CLI::App& app, Common& common, Action& chosen);
void add_window(CLI::App& app, Common& common, Action& chosen);  ///< only where WAGGLE_GUI is on

/// --data-dir, --json and --verbose, the same everywhere.
void add_common(CLI::App& command, Common& common);
/// Examples below the options: one a line.
void add_examples(CLI::App& command, std::string const& examples);

/// Says what went wrong on stderr ("waggle: …") or, with --json, as one object on stdout; returns
/// `code`.
int fail(Common const& common, Error const& error, ExitCode code = kFailed);
/// Says on stderr what does not hold yet of a command that was taken; nothing if all does.
void say_what_is_left(node::Taken const& taken);

[[nodiscard]] inline std::filesystem::path api_socket(Common const& common) {
  return common.data_dir / "api.sock";
}

}  // namespace waggle::app
