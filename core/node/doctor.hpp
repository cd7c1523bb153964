// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/node/options.hpp"

namespace waggle::node {

/// One thing looked at, in words a person can act on.
struct Finding {
  enum class Grade : std::uint8_t { good, warning, bad };
  Grade grade;
  std::string what;
  std::string detail;
};

/// Looks at the machine and the data directory without changing either: disk, keys and their modes,
/// the store, the trainer, memory, and, if a node runs there, what it knows of the network and the
/// clock.
[[nodiscard]] std::vector<Finding> examine(Options const& options);

}  // namespace waggle::node
