// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include "core/node/local.hpp"

#include "app/drive.hpp"

namespace waggle::app {

void add_publish(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "publish", "Publish a task file and serve it until others hold everything");
  add_common(*command, common);

  struct Flags {
    NodeFlags node;
    node::PublishJob job;
    bool help_fields = false;
  };

  auto const flags = std::make_shared<Flags>();
  command->add_option("task", flags->job.toml, "The task file; its data files lie beside it");
  command->add_option(
      "--files", flags->job.files, "The folder of its data files, if they lie elsewhere");
  command->add_flag("--help-fields", flags->help_fields, "Explain every field of a task file");
  add_node_flags(*command, flags->node);
  command->add_flag("--run", flags->job.train, "Train it here too");
  command->add_flag("--public", flags->job.listed, "List it in the public directory");
  command->add_flag(
      "--force", flags->job.force, "Although someone else's run is live under the prefix");
  command->add_flag("--end", flags->job.end, "Publish that the task has ended");
  command
      ->add_option(
          "--operator", flags->job.operator_name, "Which operator key signs it (operator/NAME.key)")
      ->capture_default_str();
  add_examples(
      *command,
      "  waggle publish task.toml\n"
      "  waggle publish assets/tasks/fashion/task.toml --files /usr/share/datasets/fashion-mnist\n"
      "  waggle publish task.toml --run --public\n"
      "  waggle publish task.toml --end\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags]() -> int {
      if (flags->help_fields) {
        std::fputs(node::task_field_help().c_str(), stdout);
        return kDone;
      }
      if (flags->job.toml.empty())
        return fail(common,
                    Error{Errc::invalid, "publish needs a task file; see waggle publish --help"},
                    kUsage);
      return drive(common, flags->node, flags->job);
    };
  });
}

}  // namespace waggle::app
