// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace waggle::bench {

struct PipesOutcome {
  double seconds = 0;      ///< from the first byte to the last, of all processes
  double cpu_seconds = 0;  ///< of all processes
};

/// The least that an encrypted exchange must do: `peers` processes, a socket pair between every
/// two, over which `bytes_each_way` bytes go in both directions, sealed and opened by libcrypto in
/// Noise's message size and copied once. One thread a process. {} if it failed.
[[nodiscard]] PipesOutcome exchange_over_pipes(std::size_t peers, std::size_t bytes_each_way);

}  // namespace waggle::bench
