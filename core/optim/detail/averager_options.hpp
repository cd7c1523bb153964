// SPDX-License-Identifier: MIT
#pragma once

#include "core/averaging/group.hpp"
#include "core/optim/collaborative_optimizer.hpp"
#include "core/optim/tracker.hpp"

namespace waggle::optim::detail {

// How the method sync sets up its parts: the names are hivemind's, DESIGN.md section 13. The
// averagers ask `tracker` and `expected` whom to wait for and what weight to accept; both must
// outlive them.
[[nodiscard]] TrackerOptions tracker_options(OptimizerOptions const& options);
[[nodiscard]] averaging::AveragerOptions gradient_options(
    OptimizerOptions const& options,
    ModelFacts const& facts,
    ProgressTracker& tracker,
    std::function<averaging::Expected()> expected);
[[nodiscard]] averaging::AveragerOptions state_options(
    OptimizerOptions const& options,
    ModelFacts const& facts,
    std::function<averaging::Expected()> expected);
[[nodiscard]] averaging::StateSharingOptions sharing_options(OptimizerOptions const& options);

/// What the gradient averager says in gather: {"waggle": 1, "features": [...], "epoch": n}, the
/// epoch that it ends.
[[nodiscard]] wire::Msgpack gradient_user(std::int64_t epoch);
/// Whether all members say that the group averages its state as well, without another search.
[[nodiscard]] bool state_follows(averaging::Group const& group);

}  // namespace waggle::optim::detail
