// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/node/snapshot.hpp"

namespace waggle::node {

/// The snapshot in Prometheus' text form, version 0.0.4: base units, each family once with its HELP
/// and TYPE, what is unknown left out. Names and labels are only ever added.
[[nodiscard]] std::string to_metrics(Snapshot const& snapshot);

}  // namespace waggle::node
