// SPDX-License-Identifier: MIT
#include "app/completions.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::app;

namespace {

// A program like ours, small.
struct Program {
  CLI::App app{"The program's text", "waggle"};
  std::string level;
  std::string file;
  bool follow = false;

  Program() {
    app.set_version_flag("--version", "1");
    auto* const logs = app.add_subcommand("logs", "It's what was written: all [of it]");
    logs->add_option("--level", level, "The least")->check(CLI::IsMember({"info", "error"}));
    logs->add_flag("-f,--follow", follow, "Go on");
    auto* const key = app.add_subcommand("key", "Keys");
    key->add_subcommand("export", "Out")->add_option("file", file, "Where");
    key->add_subcommand("import", "In");
    app.add_subcommand("shell", "Which")
        ->add_option("name", file, "The name")
        ->check(CLI::IsMember({"bash", "zsh"}));
    auto* const set = app.add_subcommand("set", "Change");
    set->add_option("name", file, "Which");
    set->add_option("value", level, "To what");
    set->add_flag("--json", follow, "As JSON");
  }

  std::vector<CompletedCommand> commands() const {
    auto all = commands_of(app);
    complete_pairs(
        all,
        {"set"},
        {{"power", {"light", "full"}}, {"guest.load", {"true", "false"}}, {"trainer", {}}});
    complete_pairs(all, {"nothing"}, {{"power", {}}});
    return all;
  }
};

std::string output(std::string const& command) {
  std::string out;
  auto* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char piece[512];
  while (std::fgets(piece, sizeof piece, pipe) != nullptr) out += piece;
  ::pclose(pipe);
  return out;
}

bool here(char const* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_SUITE("completions") {
  TEST_CASE("commands, options and choices are read from CLI11") {
    Program const program;
    auto const all = commands_of(program.app);
    REQUIRE(all.size() == 7);
    CHECK(all[0].path.empty());
    CHECK(all[0].subcommands == std::vector<std::string>{"logs", "key", "shell", "set"});
    auto const& logs = all[1];
    CHECK(logs.path == std::vector<std::string>{"logs"});
    auto const level =
        std::find_if(logs.options.begin(), logs.options.end(), [](auto const& option) {
          return option.names.front() == "--level";
        });
    REQUIRE(level != logs.options.end());
    CHECK(level->takes_value);
    CHECK(level->choices == std::vector<std::string>{"info", "error"});
    auto const follow =
        std::find_if(logs.options.begin(), logs.options.end(), [](auto const& option) {
          return option.names.front() == "--follow";
        });
    REQUIRE(follow != logs.options.end());
    CHECK(follow->names == std::vector<std::string>{"--follow", "-f"});
    CHECK(!follow->takes_value);
    CHECK(all[3].path == std::vector<std::string>{"key", "export"});
    CHECK(all[3].positionals.size() == 1);
    CHECK(all[5].positionals.front().choices == std::vector<std::string>{"bash", "zsh"});
  }

  TEST_CASE("bash completes commands, options, values, and what follows a command") {
    Program const program;
    test::TempFolder const folder;
    auto const script = folder / "waggle.bash";
    std::ofstream(script) << bash_completion(program.commands(), "waggle");
    auto const complete = [&](std::string const& words) {
      auto const command = "bash -c 'source " + script.string() + "; COMP_WORDS=(waggle " + words +
                           "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _waggle; echo "
                           "\"${COMPREPLY[@]}\"'";
      return output(command);
    };
    CHECK(complete("lo") == "logs\n");
    CHECK(complete("logs --fo") == "--follow\n");
    CHECK(complete("logs --level \"\"") == "info error\n");
    CHECK(complete("logs --level e") == "error\n");
    CHECK(complete("key e") == "export\n");
    CHECK(complete("logs e") == "\n");
    CHECK(complete("shell z").rfind("zsh", 0) == 0);
    CHECK(complete("--ver") == "--version\n");
    CHECK(complete("set p") == "power\n");
    CHECK(complete("set g") == "guest.load\n");
    CHECK(complete("set power \"\"") == "light full\n");
    CHECK(complete("set --json power f") == "full\n");
    CHECK(complete("set guest.load t") == "true\n");
    CHECK(complete("set trainer " + script.string().substr(0, script.string().size() - 3)) ==
          script.string() + "\n");
    CHECK(complete("key export " + script.string().substr(0, script.string().size() - 3)) ==
          script.string() + "\n");
  }

  TEST_CASE("zsh and fish read their scripts, where they are installed") {
    Program const program;
    test::TempFolder const folder;
    auto const all = program.commands();
    std::ofstream(folder / "_waggle") << zsh_completion(all, "waggle");
    std::ofstream(folder / "waggle.fish") << fish_completion(all, "waggle");
    if (here("zsh")) CHECK(std::system(("zsh -n " + (folder / "_waggle").string()).c_str()) == 0);
    if (here("fish")) {
      CHECK(std::system(("fish -n " + (folder / "waggle.fish").string()).c_str()) == 0);
      // Newer ones say what it is for behind a tab.
      CHECK(output("fish -c 'source " + (folder / "waggle.fish").string() +
                   "; complete -C \"waggle logs --level e\"'")
                .starts_with("error"));
      auto const complete = [&](std::string const& words) {
        auto out = output("cd " + folder.path().string() +
                          "; fish -c 'source waggle.fish; complete -C \"waggle " + words + "\"'");
        std::ranges::replace(out, '\n', ' ');
        return out;
      };
      CHECK(complete("set p") == "power ");
      CHECK(complete("set gu") == "guest.load ");
      CHECK(complete("set power ") == "full light ");
      CHECK(complete("set guest.load t") == "true ");
      CHECK(complete("set trainer wag").find("waggle.fish") != std::string::npos);
      CHECK(complete("shell z") == "zsh ");
    }
    auto const zsh = zsh_completion(all, "waggle");
    CHECK(zsh.find("'logs:It'\\''s what was written\\: all \\[of it\\]'") != std::string::npos);
    CHECK(fish_completion(all, "waggle").find("-d 'It'\\''s what was written: all [of it]'") !=
          std::string::npos);
  }
}
