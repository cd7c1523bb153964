// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace waggle::train {

/// The libtorch that this trainer was built with, and whether it computes on NVIDIA's cards:
/// "1.13.1", "2.6.0 with CUDA". Asks no driver.
[[nodiscard]] std::string torch_version();

}  // namespace waggle::train
