// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace waggle::device {

/// Where the entry that starts Waggle at login lies, and what it starts.
struct Autostart {
  std::filesystem::path entry;    ///< …/autostart/waggle.desktop
  std::filesystem::path program;  ///< absolute
};

/// Of this user and this program ($XDG_CONFIG_HOME or ~/.config; the file that a person started).
[[nodiscard]] Autostart autostart_place();

/// The entry's text. Errors: invalid for a path that a desktop entry cannot hold.
/// Source: Desktop Application Autostart Specification; Desktop Entry Specification 1.5, "The Exec
/// key".
[[nodiscard]] Result<std::string> autostart_entry(std::filesystem::path const& program);

/// Whether Waggle starts at login: its entry is there and no desktop's own settings turned it off.
[[nodiscard]] bool autostart_enabled(Autostart const& place = autostart_place());

/// Writes the entry, or deletes it if it is one of ours. Errors: io, invalid, refused (something
/// else has its name).
[[nodiscard]] Status set_autostart(bool on, Autostart const& place = autostart_place());

}  // namespace waggle::device
