// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"
#include "ui/machine.hpp"

namespace waggle::ui {

/// The colour of a machine's state; its words say the same.
[[nodiscard]] Colour machine_colour(Palette const& colours, Machine const& machine);
/// "Training", "Lost 3 min ago".
[[nodiscard]] std::string machine_words(Frame const& frame, Machine const& machine);

/// The machines in the navigation, if there is more than this one: a press shows one. `width` of
/// the rail in pixels; not `wide`: no words; `tight`: as low as can be.
void draw_machine_rail(Frame& frame, float width, bool wide, bool tight);
/// What it takes where it is not tight, in units.
[[nodiscard]] float machine_rail_height(Frame const& frame);

/// Says above a panel that what it shows is old, or that it may only be looked at.
void draw_machine_banner(Frame const& frame);

}  // namespace waggle::ui
