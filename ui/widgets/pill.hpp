// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A word on a tinted lozenge with a dot, in a colour that says how things are.
void pill(Frame const& frame, std::string_view words, Colour colour);
[[nodiscard]] ImVec2 pill_size(Frame const& frame, std::string_view words);

/// The colour of a task's state.
[[nodiscard]] Colour state_colour(Palette const& colours, std::string_view state);

}  // namespace waggle::ui
