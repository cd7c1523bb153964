// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/node/snapshot.hpp"

namespace waggle::node {

/// One JSON object, "schema": 1, UTF-8 (bytes that are not are replaced), no newline inside.
[[nodiscard]] std::string to_json(Snapshot const& snapshot);

}  // namespace waggle::node
