// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/node/snapshot.hpp"

namespace waggle::node {

/// The snapshot in Prometheus' text form.
[[nodiscard]] std::string to_metrics(Snapshot const& snapshot);

}  // namespace waggle::node
