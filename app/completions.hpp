// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace waggle::app {

/// An option as a shell completes it.
struct CompletedOption {
  std::vector<std::string> names;  ///< "--level", "-v"
  std::string text;
  bool takes_value = false;
  std::vector<std::string> choices;  ///< of its value; empty: a file's name, or anything
};

/// What may follow a first word; empty choices: a file's name, or anything.
using SecondWords = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// A command with its options and subcommands.
struct CompletedCommand {
  std::vector<std::string> path;  ///< words after the program's name; empty: the program itself
  std::string text;
  std::vector<CompletedOption> options;
  std::vector<CompletedOption> positionals;
  std::vector<std::string> subcommands;
  SecondWords second;  ///< of a command whose second word depends on its first; else empty
};

/// Every command of `app`, itself first. What CLI11 knows is the only source.
[[nodiscard]] std::vector<CompletedCommand> commands_of(CLI::App const& app);

/// Names the first words of the command at `path`, and what may follow each. A command that is not
/// there stays so.
void complete_pairs(std::vector<CompletedCommand>& commands,
                    std::vector<std::string> const& path,
                    SecondWords words);

/// A script for the shell, which completes `program`.
[[nodiscard]] std::string bash_completion(std::vector<CompletedCommand> const& commands,
                                          std::string const& program);
[[nodiscard]] std::string zsh_completion(std::vector<CompletedCommand> const& commands,
                                         std::string const& program);
[[nodiscard]] std::string fish_completion(std::vector<CompletedCommand> const& commands,
                                          std::string const& program);

}  // namespace waggle::app
