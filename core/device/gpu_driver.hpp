// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace waggle::device {

/// Which of the files that NVIDIA's driver needs, to compute, are not on this machine: its
/// libraries, its kernel module, its devices. Empty: all are there, which does not mean that it
/// works. Only looks whether files are there, and so cannot hang with the driver. `root` is another
/// one only in tests.
[[nodiscard]] std::vector<std::string> missing_driver_files(
    std::filesystem::path const& root = "/");

}  // namespace waggle::device
