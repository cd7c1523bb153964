// SPDX-License-Identifier: MIT
#include "core/device/autostart.hpp"

#include <cstdlib>
#include <system_error>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/device/installation.hpp"

namespace waggle::device {
namespace {

namespace fs = std::filesystem;

/// A desktop's settings rewrite entries, with translations; no more than this is read.
constexpr std::uint64_t kMaxEntry = 65536;
constexpr std::string_view kOurs = "X-Waggle=true";

fs::path config_home() {
  if (auto const* const xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg == '/')
    return xdg;
  auto const* const home = std::getenv("HOME");
  return fs::path(home != nullptr && *home == '/' ? home : "/") / ".config";
}

/// The lines of an entry that stand alone, without a translation's brackets.
bool has_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    auto const end = text.find('\n');
    auto one = text.substr(0, end);
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one == line) return true;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return false;
}

Result<std::string> read_entry(fs::path const& path) {
  WAGGLE_TRY(auto const bytes, read_file(path, kMaxEntry));
  return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
}

}  // namespace

Autostart autostart_place() {
  return {config_home() / "autostart" / "waggle.desktop", installation().program};
}

Result<std::string> autostart_entry(fs::path const& program) {
  auto const path = program.string();
  if (!program.is_absolute()) return Error{Errc::invalid, cat(path, " is no absolute path")};
  // Twice escaped: for the quotes of the Exec key, then as a string of the file.
  std::string quoted;
  for (char const c : path) {
    if (static_cast<unsigned char>(c) < 0x20)
      return Error{Errc::invalid, cat(path, " has a control character in its name")};
    if (c == '\\')
      quoted += "\\\\\\\\";
    else if (c == '"' || c == '`' || c == '$')
      quoted += cat("\\\\", c);
    else if (c == '%')
      quoted += "%%";
    else
      quoted += c;
  }
  return cat("[Desktop Entry]\nType=Application\nName=Waggle\n",
             "Comment=Train neural networks together with others\nExec=\"",
             quoted,
             "\" window\nIcon=waggle\nTerminal=false\nX-GNOME-Autostart-enabled=true\n",
             kOurs,
             '\n');
}

bool autostart_enabled(Autostart const& place) {
  auto const text = read_entry(place.entry);
  return text && has_line(*text, kOurs) && !has_line(*text, "Hidden=true") &&
         !has_line(*text, "X-GNOME-Autostart-enabled=false");
}

Status set_autostart(bool on, Autostart const& place) {
  auto const present = read_entry(place.entry);
  if (present && !has_line(*present, kOurs))
    return Error{Errc::refused, cat(place.entry.string(), " was not written by Waggle")};
  if (!present && present.error().code != Errc::not_found) return present.error();
  std::error_code error;
  if (!on) {
    if (present) fs::remove(place.entry, error);
    if (error) return Error{Errc::io, cat(place.entry.string(), ": ", error.message())};
    return ok();
  }
  WAGGLE_TRY(auto const text, autostart_entry(place.program));
  fs::create_directories(place.entry.parent_path(), error);
  if (error) return Error{Errc::io, cat(place.entry.parent_path().string(), ": ", error.message())};
  return write_file(place.entry, as_bytes(text), FileMode::shared);
}

}  // namespace waggle::device
