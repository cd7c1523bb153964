// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace waggle::device {

/// Who made a graphics processor, or a trainer's engine for some.
enum class GpuMaker { nvidia, amd };

/// Which of the files that the maker's driver needs, to compute, are not on this machine: its
/// libraries, its kernel module, its devices. Not AMD's libraries, which come with the trainer:
/// without them it does not start. Empty: all are there, which does not mean that it works. Only
/// looks whether files are there, and so cannot hang with the driver. `root` is another one only in
/// tests.
[[nodiscard]] std::vector<std::string> missing_driver_files(
    GpuMaker maker, std::filesystem::path const& root = "/");

/// Whether a card of the maker is known to the kernel, that is, whether it is worth while to ask
/// its driver. Under WSL every card counts as NVIDIA's. As cheap as a few looks whether files are
/// there.
[[nodiscard]] bool has_gpu(GpuMaker maker, std::filesystem::path const& root = "/");

}  // namespace waggle::device
