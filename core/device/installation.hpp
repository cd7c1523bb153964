// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace waggle::device {

/// How this program came onto the machine.
struct Installation {
  enum class Kind : std::uint8_t {
    single_file,  ///< unpacked by the launcher from a file that the person keeps
    package,      ///< below /usr: the package manager's
    built,        ///< run from where it was built
  };

  Kind kind = Kind::built;
  std::filesystem::path program;   ///< what a person starts, and what starts at login
  std::filesystem::path unpacked;  ///< of a single file: the folder with all unpacked versions
};

/// Pure: `executable` is what /proc/self/exe names, `launcher` what the launcher put into
/// WAGGLE_LAUNCHER, or empty.
[[nodiscard]] Installation installation_of(std::filesystem::path const& executable,
                                           std::string const& launcher);

/// Of this process.
[[nodiscard]] Installation installation();

/// Deletes what the launcher unpacked; of the folder's parent only what became empty. Other
/// programs of a single file that run now end badly: ask for them first. Returns the bytes freed.
/// Errors: invalid (not a single file's), io.
[[nodiscard]] Result<std::uint64_t> remove_unpacked(Installation const& installation);

}  // namespace waggle::device
