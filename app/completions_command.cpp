// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include "core/node/settings/settings.hpp"

#include "app/command.hpp"
#include "app/completions.hpp"

namespace waggle::app {
namespace {

// CLI11 knows that `set` takes a name and a value, the table of settings knows which.
SecondWords words_of_settings() {
  SecondWords words;
  for (auto const& setting : node::all_settings())
    words.emplace_back(setting.name, node::values_of(setting));
  return words;
}

}  // namespace

void add_completions(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("completions", "Print a script that completes waggle's words in a shell");
  add_common(*command, common);
  auto const shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_examples(*command,
               "  waggle completions bash > ~/.local/share/bash-completion/completions/waggle\n"
               "  waggle completions zsh > ~/.zfunc/_waggle\n"
               "  waggle completions fish > ~/.config/fish/completions/waggle.fish\n");
  command->callback([&app, &chosen, shell] {
    chosen = [&app, shell] {
      auto commands = commands_of(app);
      complete_pairs(commands, {"set"}, words_of_settings());
      auto const make = *shell == "bash"  ? bash_completion
                        : *shell == "zsh" ? zsh_completion
                                          : fish_completion;
      std::fputs(make(commands, "waggle").c_str(), stdout);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace waggle::app
