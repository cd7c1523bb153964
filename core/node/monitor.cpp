// SPDX-License-Identifier: MIT
#include "core/node/monitor.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/optim/progress.hpp"

namespace waggle::node {
namespace {

constexpr Duration kJoinTime = std::chrono::seconds(20);
constexpr Duration kReadTime = std::chrono::seconds(5);

Event describe(Services& services,
               std::string const& prefix,
               std::vector<optim::LocalProgress> const& peers) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::int64_t epoch = 0;
  double rate = 0;
  for (auto const& p : peers) {
    if (!p.client_mode) epoch = std::max(epoch, p.epoch);
    rate += p.samples_per_second;
    rows.push_back({{"peer", crypto::to_text(p.peer)},
                    {"epoch", p.epoch},
                    {"samples", p.samples_accumulated},
                    {"samples_per_second", p.samples_per_second}});
  }
  std::uint64_t samples = 0;
  for (auto const& p : peers)
    if (p.epoch == epoch) samples += p.samples_accumulated;
  auto text = cat(prefix,
                  ": epoch ",
                  epoch,
                  ", ",
                  samples,
                  " samples towards the next, ",
                  peers.size(),
                  peers.size() == 1 ? " peer, " : " peers, ",
                  static_cast<std::int64_t>(rate),
                  " samples/s (as claimed)");
  nlohmann::ordered_json const json = {{"event", "swarm"},
                                       {"time", services.runtime().unix_time()},
                                       {"prefix", prefix},
                                       {"epoch", epoch},
                                       {"samples", samples},
                                       {"samples_per_second", rate},
                                       {"peers", std::move(rows)}};
  return {json.dump(), std::move(text)};
}

}  // namespace

Co<Status> watch_swarm(Services& services, MonitorJob job, EventSink events, bool const& leaving) {
  auto& runtime = services.runtime();
  WAGGLE_CO_TRY_STATUS(co_await services.joined(runtime.now() + kJoinTime));
  auto const key = dht::Id::of_text(job.prefix + "_progress");
  for (std::size_t i = 0; !leaving && (job.count == 0 || i < job.count); ++i) {
    if (i > 0) {
      WAGGLE_CO_TRY_STATUS(co_await runtime.sleep_for(seconds(job.period.count())));
    }
    auto const found =
        co_await services.dht().get(key, dht::Freshness::latest, runtime.now() + kReadTime);
    if (!found && found.error().code == Errc::cancelled) co_return found.error();
    std::vector<optim::LocalProgress> peers;
    if (found && found->dictionary)
      for (auto const& [subkey, timed] : *found->dictionary) {
        auto const value = wire::Msgpack::decode(timed.value);
        if (!value || value->is_nil()) continue;
        if (auto progress = optim::LocalProgress::from_msgpack(*value))
          peers.push_back(*std::move(progress));
      }
    events(describe(services, job.prefix, peers));
  }
  co_return ok();
}

}  // namespace waggle::node
