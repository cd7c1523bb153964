// SPDX-License-Identifier: MIT
#include "app/completions.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace waggle::app {
namespace {

// CLI11 writes a list of choices as "{light,medium,full}" behind the type.
std::vector<std::string> choices_of(std::string const& type) {
  std::vector<std::string> out;
  auto const begin = type.find('{');
  auto const end = type.find('}', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return out;
  for (std::size_t at = begin + 1; at < end;) {
    auto const comma = std::min(type.find(',', at), end);
    out.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

CompletedOption completed(CLI::Option const& option) {
  CompletedOption out;
  for (auto const& name : option.get_lnames()) out.names.push_back("--" + name);
  for (auto const& name : option.get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.names.push_back(option.get_name());
  out.text = option.get_description();
  out.takes_value = option.get_items_expected_max() > 0;
  out.choices = choices_of(option.get_type_name());
  return out;
}

void add_commands(CLI::App const& app,
                  std::vector<std::string> const& path,
                  std::vector<CompletedCommand>& out) {
  CompletedCommand command;
  command.path = path;
  command.text = app.get_description();
  for (auto const* const option : app.get_options())
    (option->nonpositional() ? command.options : command.positionals).push_back(completed(*option));
  auto const subcommands = app.get_subcommands(nullptr);
  for (auto const* const sub : subcommands) command.subcommands.push_back(sub->get_name());
  out.push_back(std::move(command));
  for (auto const* const sub : subcommands) {
    auto deeper = path;
    deeper.push_back(sub->get_name());
    add_commands(*sub, deeper, out);
  }
}

std::string joined(std::vector<std::string> const& words, std::string_view between) {
  std::string out;
  for (auto const& word : words) out += cat(out.empty() ? std::string_view() : between, word);
  return out;
}

// Within '…' of a POSIX shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char const c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// A function's name for a command: _waggle_key_export.
std::string function_name(CompletedCommand const& command, std::string const& program) {
  return command.path.empty() ? "_" + program : cat('_', program, '_', joined(command.path, "_"));
}

// What zsh would take for syntax within a description.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string bash_case(std::string const& before, std::vector<std::string> const& choices) {
  return cat("        ",
             before,
             ") COMPREPLY=($(compgen ",
             choices.empty() ? "-f" : cat("-W \"", joined(choices, " "), '"'),
             " -- \"$cur\")); return ;;\n");
}

// "name:choice choice" lines would need parsing; a case statement is plain.
std::string bash_values(CompletedCommand const& command) {
  std::string out;
  for (auto const& option : command.options)
    if (option.takes_value) out += bash_case(joined(option.names, "|"), option.choices);
  for (auto const& [first, choices] : command.second) out += bash_case(first, choices);
  return out;
}

std::string bash_words(CompletedCommand const& command) {
  auto words = command.subcommands;
  for (auto const& option : command.options)
    words.insert(words.end(), option.names.begin(), option.names.end());
  for (auto const& positional : command.positionals)
    words.insert(words.end(), positional.choices.begin(), positional.choices.end());
  return joined(words, " ");
}

std::string zsh_option(CompletedOption const& option) {
  // (--a -b)'{--a,-b}'[text]:value:(x y)
  auto const value = !option.takes_value      ? std::string()
                     : option.choices.empty() ? std::string(":value:_files")
                                              : cat(":value:(", joined(option.choices, " "), ")");
  std::string out;
  for (auto const& name : option.names)
    out +=
        cat("    ", shell_quoted(cat("*", name, '[', zsh_text(option.text), ']', value)), " \\\n");
  return out;
}

std::string zsh_choices(std::vector<std::string> const& choices) {
  return choices.empty() ? std::string("_files") : cat('(', joined(choices, " "), ')');
}

std::string zsh_positionals(CompletedCommand const& command) {
  std::string out;
  if (!command.second.empty()) {
    auto const& first = command.positionals.front();
    return cat(
        "    ",
        shell_quoted(cat("1:", zsh_text(first.names.front()), ':', zsh_choices(first.choices))),
        " \\\n    '2:value:->value' \\\n");
  }
  for (auto const& positional : command.positionals)
    out += cat("    ",
               shell_quoted(cat(
                   "*:", zsh_text(positional.names.front()), ':', zsh_choices(positional.choices))),
               " \\\n");
  return out;
}

std::string zsh_second(SecondWords const& second) {
  if (second.empty()) return {};
  std::string out = "  case $line[1] in\n";
  for (auto const& [first, choices] : second)
    if (!choices.empty()) out += cat("    ", first, ") compadd -- ", joined(choices, " "), " ;;\n");
  return out + "    *) _files ;;\n  esac\n";
}

// A first word where none was said yet, then what may follow it.
std::string fish_words(CompletedCommand const& command,
                       std::string const& when,
                       std::string const& program) {
  std::string out;
  auto const offer = [&](std::string const& further, std::vector<std::string> const& choices) {
    out += cat("complete -c ",
               program,
               " -n ",
               shell_quoted(when + further),
               choices.empty() ? " -F" : cat(" -f -a ", shell_quoted(joined(choices, " "))),
               "\n");
  };
  if (command.second.empty()) {
    for (auto const& positional : command.positionals)
      if (!positional.choices.empty()) offer("", positional.choices);
    return out;
  }
  auto const& firsts = command.positionals.front().choices;
  offer(cat("; and not __fish_seen_subcommand_from ", joined(firsts, " ")), firsts);
  for (auto const& [first, choices] : command.second)
    offer(cat("; and __fish_seen_subcommand_from ", first), choices);
  return out;
}

}  // namespace

void complete_pairs(std::vector<CompletedCommand>& commands,
                    std::vector<std::string> const& path,
                    SecondWords words) {
  auto const at = std::find_if(
      commands.begin(), commands.end(), [&](auto const& command) { return command.path == path; });
  if (at == commands.end() || at->positionals.empty()) return;
  at->positionals.front().choices.clear();
  for (auto const& [first, choices] : words) at->positionals.front().choices.push_back(first);
  at->second = std::move(words);
}

std::vector<CompletedCommand> commands_of(CLI::App const& app) {
  std::vector<CompletedCommand> out;
  add_commands(app, {}, out);
  return out;
}

std::string bash_completion(std::vector<CompletedCommand> const& commands,
                            std::string const& program) {
  std::string out = cat("# bash completion for ", program, "\n");
  out += cat("_", program, "() {\n");
  out +=
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"\" path=\"\" word i\n"
      "  [ \"$COMP_CWORD\" -gt 0 ] && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
      "    case \"$path $word\" in\n";
  std::vector<std::string> paths;
  for (auto const& command : commands)
    if (!command.path.empty()) paths.push_back(shell_quoted(" " + joined(command.path, " ")));
  if (!paths.empty()) out += cat("      ", joined(paths, "|"), ") path=\"$path $word\" ;;\n");
  out += "    esac\n  done\n  case \"$path\" in\n";
  for (auto const& command : commands) {
    out += cat(
        "    ", shell_quoted(command.path.empty() ? "" : " " + joined(command.path, " ")), ")\n");
    if (auto const values = bash_values(command); !values.empty())
      out += cat("      case \"$prev\" in\n", values, "      esac\n");
    bool const takes_files =
        command.second.empty() && std::any_of(command.positionals.begin(),
                                              command.positionals.end(),
                                              [](auto const& p) { return p.choices.empty(); });
    out += cat("      COMPREPLY=($(compgen -W \"", bash_words(command), "\" -- \"$cur\"))\n");
    if (takes_files)
      out += "      [[ \"$cur\" == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n";
    out += "      ;;\n";
  }
  out += cat("  esac\n}\ncomplete -o filenames -F _", program, ' ', program, '\n');
  return out;
}

std::string zsh_completion(std::vector<CompletedCommand> const& commands,
                           std::string const& program) {
  std::string out = cat("#compdef ", program, "\n");
  for (auto const& command : commands) {
    out += cat("\n", function_name(command, program), "() {\n");
    if (!command.subcommands.empty() || !command.second.empty())
      out += "  local context state state_descr line\n  typeset -A opt_args\n";
    out += "  _arguments -C \\\n";
    for (auto const& option : command.options) out += zsh_option(option);
    if (command.subcommands.empty()) {
      out += cat(zsh_positionals(command), "    && return\n", zsh_second(command.second), "}\n");
      continue;
    }
    out += "    '1:command:->command' '*::argument:->argument' && return\n";
    out += "  case $state in\n    command)\n      local -a commands=(\n";
    for (auto const& sub : command.subcommands) {
      auto path = command.path;
      path.push_back(sub);
      auto const found = std::find_if(
          commands.begin(), commands.end(), [&](auto const& c) { return c.path == path; });
      out += cat("        ",
                 shell_quoted(cat(sub, ':', found == commands.end() ? "" : zsh_text(found->text))),
                 "\n");
    }
    out += "      )\n      _describe command commands ;;\n";
    out += cat("    argument) (( $+functions[",
               function_name(command, program),
               "_$line[1]] )) && ",
               function_name(command, program),
               "_$line[1] ;;\n  esac\n}\n");
  }
  out += cat("\ncompdef _", program, ' ', program, '\n');
  return out;
}

std::string fish_completion(std::vector<CompletedCommand> const& commands,
                            std::string const& program) {
  std::string out = cat("# fish completion for ", program, "\n");
  for (auto const& command : commands) {
    std::string when;
    for (auto const& word : command.path)
      when += cat(when.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", word);
    if (command.path.empty()) when = "__fish_use_subcommand";
    auto const begin = cat("complete -c ", program, " -n ", shell_quoted(when));
    for (auto const& sub : command.subcommands) {
      auto path = command.path;
      path.push_back(sub);
      auto const found = std::find_if(
          commands.begin(), commands.end(), [&](auto const& c) { return c.path == path; });
      out += cat(begin,
                 " -f -a ",
                 sub,
                 " -d ",
                 shell_quoted(found == commands.end() ? "" : found->text),
                 "\n");
    }
    for (auto const& option : command.options) {
      out += begin;
      for (auto const& name : option.names)
        out += name.rfind("--", 0) == 0 ? cat(" -l ", name.substr(2)) : cat(" -s ", name.substr(1));
      if (option.takes_value)
        out += option.choices.empty() ? " -r"
                                      : cat(" -x -a ", shell_quoted(joined(option.choices, " ")));
      out += cat(" -d ", shell_quoted(option.text), "\n");
    }
    out += fish_words(command, when, program);
  }
  return out;
}

}  // namespace waggle::app
