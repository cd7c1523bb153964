// SPDX-License-Identifier: MIT
#include "core/device/gpu_driver.hpp"

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/device/detail/text_file.hpp"

namespace waggle::device {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

std::vector<std::string> missing_driver_files(fs::path const& root) {
  std::vector<std::string> missing;
  auto const cache = detail::read_small(root / "etc/ld.so.cache", kMostCache);
  for (auto const* const library : {"libcuda.so.1", "libnvidia-ml.so.1"})
    if (!has_library(root, cache, library)) missing.emplace_back(library);
  for (auto const* const file :
       {"proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0", "dev/nvidia-uvm"})
    if (!there(root / file)) missing.push_back(std::string("/") + file);
  return missing;
}

}  // namespace waggle::device
