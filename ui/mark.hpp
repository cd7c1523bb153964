// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "ui/palette.hpp"

namespace waggle::ui {

/// Waggle's mark, a cell within a cell, as size × size pixels of red, green, blue and alpha, rows
/// from the top: for places that take pictures, not lines (the tray, the window's frame).
[[nodiscard]] std::vector<std::uint8_t> mark(int size, Colour ink);

}  // namespace waggle::ui
