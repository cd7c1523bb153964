// SPDX-License-Identifier: MIT
#pragma once

#include "core/node/node.hpp"
#include "core/node/services.hpp"
#include "core/node/tasks/finder.hpp"

namespace waggle::node {

/// Reads and checks a task file, initialises its weights (a trainer, for seconds), cuts weights and
/// data into blobs, signs the record with the operator's key, and keeps it alive. A file with the
/// same name and bytes costs nothing the second time. Errors: invalid (the task file, with line and
/// column), not_found (a data file), refused (someone else's run is live under the prefix), io,
/// too_large, cancelled, and what the trainer says.
[[nodiscard]] Co<Result<FoundTask>> publish_task(Services& services,
                                                 PublishJob job,
                                                 EventSink events);

}  // namespace waggle::node
