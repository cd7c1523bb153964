// SPDX-License-Identifier: MIT
#include "app/command.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace waggle::app {

void add_common(CLI::App& command, Common& common) {
  command
      .add_option("--data-dir", common.data_dir, "Where keys, tasks, blobs and checkpoints live")
      ->capture_default_str();
  command.add_flag("--json", common.json, "One JSON object a line on standard output");
  command.add_flag("-v,--verbose", common.verbose, "Log what happens underneath to standard error");
}

void add_examples(CLI::App& command, std::string const& examples) {
  command.footer("Examples:\n" + examples);
}

int fail(Common const& common, Error const& error, ExitCode code) {
  if (common.json) {
    nlohmann::json const object = {
        {"ok", false}, {"error", name(error.code)}, {"message", error.detail}};
    std::printf("%s\n",
                object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  } else {
    std::fprintf(stderr, "waggle: %s\n", error.detail.c_str());
  }
  return code;
}

void say_what_is_left(node::Taken const& taken) {
  char const* left = nullptr;
  if (taken.carried_out && !taken.kept)
    left = "it counts already, but is not on disk yet: killed now, Waggle would not remember it";
  else if (!taken.carried_out && taken.kept)
    left = "it is on disk, but the running Waggle does not go by it yet";
  else if (!taken.carried_out)
    left = "the running Waggle has not carried it out yet; see waggle status";
  if (left != nullptr) std::fprintf(stderr, "waggle: %s\n", left);
}

}  // namespace waggle::app
