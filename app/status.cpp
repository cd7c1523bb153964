// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/node/api/api.hpp"
#include "core/node/api/snapshot_json.hpp"

#include "app/command.hpp"
#include "app/remote.hpp"

namespace waggle::app {
namespace {

using Json = nlohmann::json;

void print_task(Json const& task) {
  std::printf("%s (%s): %s",
              task.value("title", "").c_str(),
              task.value("prefix", "").c_str(),
              task.value("state", "").c_str());
  auto const reason = task.value("reason", "");
  std::printf("%s%s\n", reason.empty() ? "" : ", ", reason.c_str());
  for (auto const& operator_id : task.value("choices", Json::array()))
    std::printf("  waggle join 'waggle:%s?op=%s'\n",
                task.value("prefix", "").c_str(),
                operator_id.get<std::string>().c_str());
  // One that only waits has no figures of now.
  if (auto const state = task.value("state", ""); state == "waiting" || state == "choice") return;
  std::printf("  epoch %lld of the swarm's %lld, %llu of %llu samples, %zu peers\n",
              static_cast<long long>(task.value("epoch", 0LL)),
              static_cast<long long>(task.value("swarm_epoch", 0LL)),
              task.value("swarm_samples", 0ULL),
              task.value("target_batch_size", 0ULL),
              task.value("swarm_peers", std::size_t{0}));
  std::printf("  %.0f samples/s here, %.0f in the swarm, %llu given since the start\n",
              task.value("samples_per_second", 0.0),
              task.value("swarm_samples_per_second", 0.0),
              task.value("samples_given", 0ULL));
  if (task.contains("loss") && task["loss"].is_number())
    std::printf("  loss %.4f", task["loss"].get<double>());
  if (task.contains("test_accuracy") && task["test_accuracy"].is_number())
    std::printf("  accuracy %.2f %%", 100 * task["test_accuracy"].get<double>());
  std::printf("\n");
}

// Power, and what the person overrode: a pause's reason stands with its task.
void print_guest(Json const& guest) {
  if (guest.empty()) return;
  std::printf("power %s: %zu threads, %.0f %% of their time",
              guest.value("power", "?").c_str(),
              guest.value("threads", std::size_t{0}),
              100 * guest.value("duty", 1.0));
  if (!guest.value("followed", true)) std::printf("; the rules of [guest] are not followed");
  if (guest.value("overridden", false)) {
    char const* before = "; runs anyway although ";
    for (auto const& cause : guest.value("causes", Json::array())) {
      std::printf("%s%s", before, cause.get<std::string>().c_str());
      before = ", ";
    }
  }
  std::printf("\n");
}

Result<std::string> snapshot_text(Common const& common, std::string const& on) {
  if (on.empty()) return node::api_get(api_socket(common), "/v1/snapshot");
  WAGGLE_TRY(auto const snapshot, snapshot_of(common, on));
  return node::to_json(snapshot);
}

int run(Common const& common, std::string const& on) {
  auto const body = snapshot_text(common, on);
  if (!body) return fail(common, body.error());
  if (common.json) {
    std::printf("%s\n", body->c_str());
    return kDone;
  }
  auto const snapshot = Json::parse(*body, nullptr, false);
  if (!snapshot.is_object())
    return fail(common, Error{Errc::malformed, "the node's answer is no JSON object"});
  std::printf("Waggle %s, process %lld, up %.0f s, peer %s\n",
              snapshot.value("version", "?").c_str(),
              static_cast<long long>(snapshot.value("pid", 0LL)),
              snapshot.value("uptime", 0.0),
              snapshot.value("peer_id", "?").c_str());
  std::printf("%zu connections, %zu peers in the routing table\n",
              snapshot.value("peers", Json::array()).size(),
              snapshot.value("dht_table", std::size_t{0}));
  for (auto const& task : snapshot.value("tasks", Json::array())) print_task(task);
  print_guest(snapshot.value("guest", Json::object()));
  for (auto const& notice : snapshot.value("notices", Json::array()))
    std::printf("note: %s\n", notice.get<std::string>().c_str());
  return kDone;
}

}  // namespace

void add_status(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("status", "What the running Waggle of this data directory does");
  add_common(*command, common);
  add_examples(*command,
               "  waggle status\n  waggle status --json | jq .tasks\n"
               "  waggle status --on server\n");
  auto const on = std::make_shared<std::string>();
  add_on(*command, *on);
  command->callback(
      [&common, &chosen, on] { chosen = [&common, on] { return run(common, *on); }; });
}

}  // namespace waggle::app
