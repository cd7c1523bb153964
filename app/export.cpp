// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/node/local.hpp"

#include "app/command.hpp"

namespace waggle::app {

void add_export(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("export", "Write a task's weights as safetensors, with PyTorch's names");
  add_common(*command, common);

  struct Flags {
    std::string prefix;
    std::filesystem::path to;
  };

  auto const flags = std::make_shared<Flags>();
  command->add_option("prefix", flags->prefix, "The task; may be left out when there is only one");
  command->add_option("--to", flags->to, "The file to write")->required();
  add_examples(*command, "  waggle export fashion_resnet --to model.safetensors\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags]() -> int {
      node::Options options;
      options.data_dir = common.data_dir;
      auto const exported = node::export_weights(options, flags->prefix, flags->to);
      if (!exported) return fail(common, exported.error());
      if (common.json) {
        nlohmann::json const object = {{"ok", true},
                                       {"prefix", exported->prefix},
                                       {"epoch", exported->epoch},
                                       {"parameters", exported->parameters},
                                       {"file", flags->to.string()}};
        std::printf("%s\n", object.dump().c_str());
      } else {
        std::printf("%s at epoch %lld, %llu parameters, written to %s\n",
                    exported->prefix.c_str(),
                    static_cast<long long>(exported->epoch),
                    static_cast<unsigned long long>(exported->parameters),
                    flags->to.c_str());
      }
      return kDone;
    };
  });
}

}  // namespace waggle::app
