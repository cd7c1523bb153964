// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace waggle::device {

/// A square picture, as a tray wants it: 4 bytes a pixel, alpha, red, green, blue, rows from the
/// top.
struct TrayPicture {
  int size = 0;
  std::vector<std::uint8_t> argb;

  friend bool operator==(TrayPicture const&, TrayPicture const&) = default;
};

struct TrayMenuItem {
  std::string words;  ///< empty: a line between others
  bool enabled = true;

  friend bool operator==(TrayMenuItem const&, TrayMenuItem const&) = default;
};

/// All that a tray shows of a program.
struct TrayLook {
  std::string title;
  std::string tooltip;
  TrayPicture picture;
  std::vector<TrayMenuItem> menu;

  friend bool operator==(TrayLook const&, TrayLook const&) = default;
};

/// What a person did with it.
struct TrayPress {
  std::optional<std::size_t> item;  ///< of the menu; unset: the icon itself
};

/// An icon in the desktop's tray (StatusNotifierItem with a com.canonical.dbusmenu), and messages
/// of the desktop (org.freedesktop.Notifications), on the session bus. libsystemd is loaded at run
/// time; without it, without a bus or without a tray there is simply none. A thread of its own
/// talks to the bus, so that no call here waits; a tray that comes later, or again, is found.
class Tray {
 public:
  /// `wake` is called from the tray's thread when shown() or take_press() has something new. Null:
  /// no libsystemd or no session bus.
  [[nodiscard]] static std::unique_ptr<Tray> open(TrayLook look, std::function<void()> wake);
  ~Tray();
  Tray(Tray const&) = delete;
  Tray& operator=(Tray const&) = delete;

  /// Whether a tray holds the icon now: whoever hides the window without one loses it.
  [[nodiscard]] bool shown() const;
  void show(TrayLook look);
  [[nodiscard]] std::optional<TrayPress> take_press();
  /// A message of the desktop; dropped where nobody shows such.
  void notify(std::string title, std::string body);

 private:
  struct State;
  explicit Tray(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::device
