// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/node/options.hpp"
#include "core/optim/collaborative_optimizer.hpp"

namespace waggle::node {

struct Evaluation;
class Services;

/// The events of a node, each as one JSON object {"event": …, "time": …, …} and as a line for a
/// person. Fields are only ever added; scripts and the demo read them.
namespace events {

[[nodiscard]] Event started(Services& services);
[[nodiscard]] Event published(Services& services,
                              std::string const& link,
                              std::string const& prefix,
                              std::uint64_t version);
[[nodiscard]] Event state(Services& services, std::string const& state, std::string const& text);
/// Something a person should know; status and doctor show it too.
[[nodiscard]] Event notice(Services& services, std::string const& text);
/// The web page is there; `url` is without its token.
[[nodiscard]] Event page(Services& services, std::string const& url);
[[nodiscard]] Event fetch(Services& services,
                          std::uint64_t done,
                          std::uint64_t total,
                          std::size_t providers);
[[nodiscard]] Event training(Services& services,
                             std::int64_t epoch,
                             std::uint64_t parameters,
                             double flops_per_sample);

/// What the session adds to the optimizer's own report.
struct Given {
  std::uint64_t samples = 0;  ///< since the program started
  double credits = 0;         ///< GFLOP
  double samples_per_second = 0;
};

[[nodiscard]] Event epoch(Services& services, optim::EpochReport const& report, Given const& given);
/// `whole`: on all held-out data, not on a fixed sample of it. `final`: the last one before
/// leaving.
[[nodiscard]] Event evaluation(
    Services& services, std::int64_t epoch, Evaluation const& measured, bool whole, bool final);
/// A task was left while the node runs, and its disk freed.
[[nodiscard]] Event forgotten(Services& services, std::string const& prefix, std::uint64_t freed);
[[nodiscard]] Event left(Services& services, std::int64_t epoch, Given const& given);

}  // namespace events
}  // namespace waggle::node
