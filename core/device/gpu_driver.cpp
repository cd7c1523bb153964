// SPDX-License-Identifier: MIT
#include "core/device/gpu_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPci = 4096;
constexpr std::size_t kMostDevices = 256;  // of /dev/dri
constexpr std::size_t kMostCache = std::size_t{8} << 20;
// Where distributions put a driver's libraries beside what ldconfig lists: NixOS, WSL.
constexpr char const* kFolders[] = {"usr/lib/x86_64-linux-gnu",
                                    "usr/lib/aarch64-linux-gnu",
                                    "usr/lib64",
                                    "usr/lib",
                                    "usr/local/lib",
                                    "usr/local/nvidia/lib64",
                                    "run/opengl-driver/lib",
                                    "usr/lib/wsl/lib"};

bool there(fs::path const& file) {
  std::error_code ec;
  return fs::exists(file, ec);
}

// ld.so.cache lists each library by its full path, ended by a zero. Source: glibc,
// sysdeps/generic/dl-cache.h.
bool listed(fs::path const& root, std::string_view cache, std::string const& library) {
  auto const end_of_path = "/" + library + std::string(1, '\0');
  for (auto at = cache.find(end_of_path); at != cache.npos; at = cache.find(end_of_path, at + 1)) {
    auto const zero = cache.rfind('\0', at);
    auto const begin = zero == cache.npos ? 0 : zero + 1;
    fs::path const path(cache.substr(begin, at + end_of_path.size() - 1 - begin));
    if (path.is_absolute() && there(root / path.relative_path())) return true;
  }
  return false;
}

bool in_path(fs::path const& root, std::string_view folders, std::string const& library) {
  while (!folders.empty()) {
    auto const end = folders.find(':');
    fs::path const folder(folders.substr(0, end));
    if (folder.is_absolute() && there(root / folder.relative_path() / library)) return true;
    folders = end == folders.npos ? std::string_view() : folders.substr(end + 1);
  }
  return false;
}

bool has_library(fs::path const& root, std::string_view cache, std::string const& library) {
  if (listed(root, cache, library)) return true;
  char const* const path = std::getenv("LD_LIBRARY_PATH");
  if (path != nullptr && in_path(root, path, library)) return true;
  for (auto const* const folder : kFolders)
    if (there(root / folder / library)) return true;
  return false;
}

std::vector<std::string> missing_of_nvidia(fs::path const& root) {
  std::vector<std::string> missing;
  auto const cache = detail::read_small(root / "etc/ld.so.cache", kMostCache);
  for (auto const* const library : {"libcuda.so.1", "libnvidia-ml.so.1"})
    if (!has_library(root, cache, library)) missing.emplace_back(library);
  for (auto const* const file :
       {"proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0", "dev/nvidia-uvm"})
    if (!there(root / file)) missing.push_back(std::string("/") + file);
  return missing;
}

// Source: ROCm's installation guide, "GPU isolation": what a process needs to compute.
std::vector<std::string> missing_of_amd(fs::path const& root) {
  std::vector<std::string> missing;
  for (auto const* const file : {"sys/module/amdgpu", "dev/kfd"})
    if (!there(root / file)) missing.push_back(std::string("/") + file);
  auto const is_renderer = [](std::string const& name) { return name.starts_with("renderD"); };
  if (std::ranges::none_of(detail::names_in(root / "dev/dri", kMostDevices), is_renderer))
    missing.emplace_back("/dev/dri/renderD*");
  return missing;
}

}  // namespace

std::vector<std::string> missing_driver_files(GpuMaker maker, fs::path const& root) {
  return maker == GpuMaker::amd ? missing_of_amd(root) : missing_of_nvidia(root);
}

bool on_pci_bus(GpuMaker maker, fs::path const& root) {
  auto const devices = root / "sys/bus/pci/devices";
  std::string_view const vendor = maker == GpuMaker::amd ? "0x1002" : "0x10de";
  constexpr std::string_view kDisplay = "0x03";  // a class of devices: VGA, 3D, other displays
  return std::ranges::any_of(detail::names_in(devices, kMostPci), [&](std::string const& name) {
    return detail::read_small(devices / name / "class").starts_with(kDisplay) &&
           detail::read_small(devices / name / "vendor") == vendor;
  });
}

bool nvidia_has_card(fs::path const& root) {
  constexpr char const* kSigns[] = {
      "dev/nvidiactl", "dev/nvidia0", "proc/driver/nvidia", "dev/dxg"};
  return std::ranges::any_of(kSigns, [&root](char const* sign) { return there(root / sign); }) ||
         on_pci_bus(GpuMaker::nvidia, root);  // its module is loaded by whoever first asks
}

}  // namespace waggle::device
