// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// One JSON object, "schema": 1, UTF-8 (bytes that are not are replaced), no newline inside.
[[nodiscard]] std::string to_json(Snapshot const& snapshot);

/// The other way, for a window on another process's node and for recorded snapshots. A field that
/// is missing or of another kind keeps its default, since an older node sends fewer; what is longer
/// than a limit is cut. Errors: malformed (no JSON object, or no "schema": 1).
[[nodiscard]] Result<Snapshot> snapshot_from_json(std::string_view text);

}  // namespace waggle::node
