// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"
#include "core/base/runtime.hpp"

namespace waggle::device {

/// One program's wish that the machine leave something be, as logind lists it.
struct Inhibitor {
  std::string what;  ///< "idle", "sleep:shutdown", …
  std::string who;
  std::string mode;  ///< "block" or "delay"
};

/// The first who keeps the machine from counting as left alone (what has "idle", mode "block"): a
/// film or a presentation. Its name as one line of at most 64 bytes; "a program" if it has none.
[[nodiscard]] std::optional<std::string> keeps_screen_on(std::span<Inhibitor const> all);

/// Asks logind; empty where there is none, and at most 256 of them. What a desktop keeps to itself
/// (org.freedesktop.ScreenSaver has no list) is seen as far as it tells logind, as GNOME and KDE
/// do. May take as long as read_system_bus(): call it in an Aside.
[[nodiscard]] std::vector<Inhibitor> read_inhibitors();

/// Has logind keep the machine from falling asleep for as long as the descriptor is open. A closed
/// lid still counts, as logind.conf has it unless told otherwise. Errors: not_found (no libsystemd,
/// no logind), refused (with logind's reason). May take as long as read_system_bus().
[[nodiscard]] Result<Fd> inhibit_sleep();

/// Keeps the machine awake for as long as that is wanted: asks in a thread of its own, and again
/// every minute while it was refused; lets go at once. Thread: one caller.
class KeepAwake {
 public:
  KeepAwake();
  /// Lets go.
  ~KeepAwake();
  KeepAwake(KeepAwake const&) = delete;
  KeepAwake& operator=(KeepAwake const&) = delete;

  /// Call it once a second or so while it is wanted, and once it is not. Never blocks.
  void want(bool on, TimePoint now);
  /// Whether logind holds the machine awake for us.
  [[nodiscard]] bool held() const;
  /// Why the last question was refused; empty: it was not.
  [[nodiscard]] std::string trouble() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::device
