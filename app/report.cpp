// SPDX-License-Identifier: MIT
#include "core/node/report/report.hpp"

#include <cstdio>
#include <ctime>
#include <memory>

#include <nlohmann/json.hpp>

#include "app/command.hpp"

namespace waggle::app {
namespace {

int run(Common const& common, std::filesystem::path const& to) {
  node::Options options;
  options.data_dir = common.data_dir;
  options.version = WAGGLE_VERSION;
  auto const files = node::collect_report(options);
  auto const written =
      node::write_report(files, to, static_cast<std::uint64_t>(std::time(nullptr)));
  if (!written)
    return fail(common, written.error(), written.error().code == Errc::invalid ? kUsage : kFailed);
  if (common.json) {
    auto names = nlohmann::json::array();
    for (auto const& file : files) names.push_back(file.name);
    std::printf(
        "%s\n",
        nlohmann::json({{"ok", true}, {"file", to.string()}, {"holds", names}}).dump().c_str());
    return kDone;
  }
  std::printf("%s holds:\n", to.c_str());
  for (auto const& file : files)
    std::printf("  %-28s %8zu bytes\n", file.name.c_str(), file.content.size());
  std::printf(
      "\nAddresses, PeerIDs, your name and home folder, keys and tokens were taken out. Look "
      "inside\n"
      "before you send it to anybody; nothing was sent:\n\n  tar -xzf %s && less waggle-report/*\n",
      to.c_str());
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "report", "Gather what helps to find a bug, without what tells who you are, into one file");
  add_common(*command, common);
  auto const to = std::make_shared<std::filesystem::path>("waggle-report.tar.gz");
  command->add_option("--to", *to, "The file to write; one that is there is not replaced")
      ->capture_default_str();
  add_examples(*command, "  waggle report\n  waggle report --to crash-on-resume.tar.gz\n");
  command->callback(
      [&common, &chosen, to] { chosen = [&common, to] { return run(common, *to); }; });
}

}  // namespace waggle::app
