// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A ring of which `share` (0 to 1) is drawn, words in its middle and smaller ones below them.
void ring(Frame const& frame,
          double share,
          Colour colour,
          float diameter,
          std::string_view words,
          std::string_view below);

/// A bar as wide as the space that is left; `of` (of the whole) is the part of it that is ours.
void bar(Frame const& frame, double share, double ours, float height);

}  // namespace waggle::ui
