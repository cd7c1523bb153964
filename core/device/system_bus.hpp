// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waggle::device {

/// What logind says of the session of the person in front of the screen.
struct SessionHint {
  bool idle = false;
  bool wayland = false;
  std::uint64_t since = 0;  ///< microseconds since 1970; 0: unknown
};

/// What the system bus knows. Unset: no libsystemd, no bus, no such service.
struct BusReadings {
  std::optional<SessionHint> session;  ///< unset also where it is no desktop's
  std::optional<bool> metered;
};

/// Seconds idle from the hint at `unix_time`; in use is 0. Unset: idle since nobody knows when.
[[nodiscard]] std::optional<double> idle_seconds(SessionHint hint, double unix_time);

/// The better of what the X server and logind say. Under Wayland an X server sees only some of the
/// keys, so it does not count there; `wayland`: what the environment says where logind is silent.
[[nodiscard]] std::optional<double> idle_seconds(std::optional<double> x11,
                                                 std::optional<SessionHint> session,
                                                 bool wayland,
                                                 double unix_time);

/// Whether a session's type is a desktop's. Typing into a remote shell is not sitting at the
/// machine, so other sessions say nothing about idleness.
[[nodiscard]] bool is_desktop(std::string_view session_type);

/// NetworkManager's NMMetered: 1 yes, 3 guessed yes, 2 no, 4 guessed no, else unknown.
[[nodiscard]] std::optional<bool> metered_of(std::uint32_t value);

/// Asks logind and NetworkManager. May take 90 s with a bus that hangs: call it in an Aside.
/// Source: org.freedesktop.login1(5), NetworkManager's D-Bus interface, NMMetered.
[[nodiscard]] BusReadings read_system_bus();

}  // namespace waggle::device
