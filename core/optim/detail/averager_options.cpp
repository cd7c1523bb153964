// SPDX-License-Identifier: MIT
#include "core/optim/detail/averager_options.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/text.hpp"

namespace waggle::optim::detail {

namespace {

// Wire-stable: the members of this group average their state in it, too.
constexpr std::string_view kStateFollows = "state_follows";

// A state round's members weigh alike; larger weights are a lie.
constexpr double kStateWeight = 1.0;

averaging::AveragerOptions common(OptimizerOptions const& options,
                                  std::function<averaging::Expected()> expected) {
  averaging::AveragerOptions a;
  a.min_matchmaking_time = options.matchmaking_time;
  // hivemind: next_chunk_timeout = matchmaking_time, and requests must be shorter than the search.
  a.request_timeout = std::min<Duration>(std::chrono::seconds(3), options.matchmaking_time / 2);
  a.sender_timeout = options.matchmaking_time;
  a.reducer_timeout = 2 * options.matchmaking_time;
  a.client_mode = options.client_mode;
  a.expected = std::move(expected);
  return a;
}

}  // namespace

TrackerOptions tracker_options(OptimizerOptions const& options) {
  TrackerOptions t;
  t.run_id = options.run_id;
  t.target_batch_size = options.target_batch_size;
  t.client_mode = options.client_mode;
  return t;
}

averaging::AveragerOptions gradient_options(OptimizerOptions const& options,
                                            ModelFacts const& facts,
                                            ProgressTracker& tracker,
                                            std::function<averaging::Expected()> expected) {
  auto a = common(options, std::move(expected));
  a.prefix = cat(options.run_id, "_grad_averager");
  a.class_name = "GradientAverager";
  a.schema = facts.parameters;
  a.compression = options.compression;
  a.weight_limit = [&tracker](PeerId const& peer) { return tracker.weight_limit(peer); };
  return a;
}

averaging::AveragerOptions state_options(OptimizerOptions const& options,
                                         ModelFacts const& facts,
                                         std::function<averaging::Expected()> expected) {
  auto a = common(options, std::move(expected));
  a.prefix = cat(options.run_id, "_state_averager");
  a.class_name = "TrainingStateAverager";
  a.schema = facts.state_averaging;
  a.compression = options.state_compression;
  a.weight_limit = [](PeerId const&) { return kStateWeight; };
  return a;
}

averaging::StateSharingOptions sharing_options(OptimizerOptions const& options) {
  averaging::StateSharingOptions s;
  s.prefix = cat(options.run_id, "_state_averager");
  s.request_timeout = options.matchmaking_time;
  s.serve = !options.client_mode;
  return s;
}

wire::Msgpack gradient_user(std::int64_t epoch) {
  wire::Msgpack::Map map;
  map.emplace_back("waggle", 1);
  map.emplace_back("features", wire::Msgpack::Array{wire::Msgpack(kStateFollows)});
  map.emplace_back("epoch", epoch);
  return map;
}

bool state_follows(averaging::Group const& group) {
  return std::all_of(group.gathered.begin(), group.gathered.end(), [](averaging::Gather const& g) {
    auto const* const features = g.user.find("features");
    if (features == nullptr) return false;
    auto const items = features->items();
    return items && std::any_of(items->begin(), items->end(), [](wire::Msgpack const& f) {
             auto const* const name = f.get<std::string>();
             return name != nullptr && *name == kStateFollows;
           });
  });
}

}  // namespace waggle::optim::detail
