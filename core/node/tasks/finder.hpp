// SPDX-License-Identifier: MIT
#pragma once

#include <variant>
#include <vector>

#include "core/node/services.hpp"
#include "core/task/link.hpp"
#include "core/task/record.hpp"

namespace waggle::node {

/// A task as its operator signed it, and the signed bytes, which we keep alive.
struct FoundTask {
  task::TaskRecord record;
  Bytes envelope;
};

/// A bare prefix that several operators claim: a person has to choose one (exit code 3).
struct NeedsChoice {
  std::vector<PeerId> operators;
};

using Finding = std::variant<FoundTask, NeedsChoice>;

/// Finds a task by link or bare prefix: by the operator in the link, by the operator that this data
/// directory pinned on first use, or by the only one that claims the prefix, who is pinned. Asks
/// again with growing waits while nobody knows it; a copy in the store answers when the swarm does
/// not. Errors: timeout, cancelled, io, refused (the task has ended).
[[nodiscard]] Co<Result<Finding>> find_task(Services& services,
                                            task::Link link,
                                            TimePoint deadline);

/// Notes a task in the store: joined or left, its newest record.
[[nodiscard]] Co<Status> remember_task(Services& services, FoundTask found, bool joined);

}  // namespace waggle::node
