// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace waggle::device {

/// Which of the files that NVIDIA's driver needs, to compute, are not on this machine: its
/// libraries, its kernel module, its devices. Empty: all are there, which does not mean that it
/// works. Loads the libraries for a moment. `root` is another one only in tests.
[[nodiscard]] std::vector<std::string> missing_driver_files(
    std::filesystem::path const& root = "/",
    std::vector<std::string> const& libraries = {"libcuda.so.1", "libnvidia-ml.so.1"});

}  // namespace waggle::device
