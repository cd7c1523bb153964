// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace waggle::device {

/// Seconds since somebody touched keyboard or mouse, from the X server of $DISPLAY and its
/// screensaver extension. Unset: no DISPLAY, no libX11 or libXss, no such server or extension.
/// May hang with the server: call it in an Aside. A server that dies under the question leaves
/// that one thread asleep for good, where Xlib would end the program.
/// Source: MIT-SCREEN-SAVER, version 1.1, QueryInfo.
[[nodiscard]] std::optional<double> x11_idle_seconds();

}  // namespace waggle::device
