// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// Where a row of the navigation lies on the screen, and what the pointer does to it.
struct RailRow {
  ImVec2 at;
  bool pressed;
  bool hovered;
};

/// A row to choose, at the cursor; its ground tells whether it is `chosen` or pointed at. What is
/// in it is drawn over it. `id` is unique in its list.
[[nodiscard]] RailRow rail_row(Frame const& frame, char const* id, ImVec2 size, bool chosen);

}  // namespace waggle::ui
