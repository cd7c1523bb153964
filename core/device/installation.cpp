// SPDX-License-Identifier: MIT
#include "core/device/installation.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/base/text.hpp"

namespace waggle::device {
namespace {

namespace fs = std::filesystem;

// What installer/launcher/install.cpp gives its folders as names.
constexpr std::size_t kVersionName = 32;
constexpr std::string_view kPrograms = "program";

bool is_version(std::string_view name) {
  return name.size() == kVersionName && std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// What install() makes below its folder: nothing else is deleted.
bool is_launchers(std::string const& name) {
  return name == "lock" || is_version(name) || name.starts_with(".new-") ||
         name.starts_with(".old-");
}

std::uint64_t bytes_below(fs::path const& path) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(path, ignored), end; at != end; at.increment(ignored)) {
    if (ignored) break;
    if (!at->is_symlink(ignored) && at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  }
  return bytes;
}

}  // namespace

Installation installation_of(fs::path const& executable, std::string const& launcher) {
  Installation out;
  out.program = executable;
  // <folder>/program/<version>/desktop/waggle
  auto const version = executable.parent_path().parent_path();
  if (launcher.starts_with('/') && is_version(version.filename().string()) &&
      version.parent_path().filename() == kPrograms) {
    out.kind = Installation::Kind::single_file;
    out.program = launcher;
    out.unpacked = version.parent_path();
  } else if (executable.string().starts_with("/usr/")) {
    out.kind = Installation::Kind::package;
    if (launcher.starts_with('/')) out.program = launcher;
  }
  return out;
}

Installation installation() {
  std::error_code error;
  auto const executable = fs::read_symlink("/proc/self/exe", error);
  auto const* const launcher = std::getenv("WAGGLE_LAUNCHER");
  return installation_of(executable, launcher != nullptr ? launcher : "");
}

Result<std::uint64_t> remove_unpacked(Installation const& installation) {
  if (installation.kind != Installation::Kind::single_file)
    return Error{Errc::invalid, "this program was not unpacked from a single file"};
  std::error_code error;
  std::uint64_t freed = 0;
  for (fs::directory_iterator at(installation.unpacked, error), end; !error && at != end;
       at.increment(error)) {
    if (!is_launchers(at->path().filename().string())) continue;
    freed += bytes_below(at->path());
    std::error_code failed;
    fs::remove_all(at->path(), failed);
    if (failed) return Error{Errc::io, cat(at->path().string(), ": ", failed.message())};
  }
  if (error) return Error{Errc::io, cat(installation.unpacked.string(), ": ", error.message())};
  // Only empty folders go this way.
  fs::remove(installation.unpacked, error);
  fs::remove(installation.unpacked.parent_path(), error);
  return freed;
}

}  // namespace waggle::device
