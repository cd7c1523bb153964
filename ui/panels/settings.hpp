// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// What a person chooses for this window.
struct Choices {
  Mode mode = Mode::dark;
  Language language = Language::english;
  float size = 1;  ///< on top of the display's own scale
};

/// How the window looks, and the facts of this node.
void draw_settings(Frame& frame, Choices& choices);

}  // namespace waggle::ui
