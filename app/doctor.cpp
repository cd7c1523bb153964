// SPDX-License-Identifier: MIT
#include "core/node/doctor.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "app/command.hpp"

namespace waggle::app {
namespace {

int run(Common const& common) {
  node::Options options;
  options.data_dir = common.data_dir;
  constexpr char const* kGrades[] = {"good", "warning", "bad"};
  bool healthy = true;
  for (auto const& finding : node::examine(options)) {
    auto const* const grade = kGrades[static_cast<int>(finding.grade)];
    healthy = healthy && finding.grade != node::Finding::Grade::bad;
    if (common.json)
      std::printf(
          "%s\n",
          nlohmann::json({{"grade", grade}, {"what", finding.what}, {"detail", finding.detail}})
              .dump()
              .c_str());
    else
      std::printf("%-8s %-14s %s\n", grade, finding.what.c_str(), finding.detail.c_str());
  }
  return healthy ? kDone : kFailed;
}

}  // namespace

void add_doctor(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("doctor", "Look for what keeps Waggle from working here");
  add_common(*command, common);
  add_examples(*command, "  waggle doctor\n  waggle doctor --json\n");
  command->callback([&common, &chosen] { chosen = [&common] { return run(common); }; });
}

}  // namespace waggle::app
