// SPDX-License-Identifier: MIT
#include "core/device/gpu_driver.hpp"

#include <dlfcn.h>

namespace waggle::device {
namespace {

bool loads(std::string const& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::vector<std::string> missing_driver_files(std::filesystem::path const& root,
                                              std::vector<std::string> const& libraries) {
  std::vector<std::string> missing;
  for (auto const& library : libraries)
    if (!loads(library)) missing.push_back(library);
  for (auto const* const file :
       {"proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0", "dev/nvidia-uvm"}) {
    std::error_code ec;
    if (!std::filesystem::exists(root / file, ec)) missing.push_back(std::string("/") + file);
  }
  return missing;
}

}  // namespace waggle::device
