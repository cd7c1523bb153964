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

/// Whether a card of the maker is in this machine, with a driver or without. Source: Linux,
/// Documentation/ABI/testing/sysfs-bus-pci.
[[nodiscard]] bool on_pci_bus(GpuMaker maker, std::filesystem::path const& root = "/");

/// Whether NVIDIA's driver, or WSL's, has a card, that is, whether it is worth while to load its
/// library. As cheap as a few looks whether files are there.
[[nodiscard]] bool nvidia_has_card(std::filesystem::path const& root = "/");

}  // namespace waggle::device
