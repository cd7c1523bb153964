// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A label, a big number with its unit, and a smaller line below (may be empty).
void figure(Frame const& frame,
            std::string_view label,
            std::string_view number,
            std::string_view unit,
            std::string_view below);

/// As figure(), a size smaller: for several in one card, each `width` wide.
void small_figure(Frame const& frame, std::string_view number, std::string_view label, float width);

}  // namespace waggle::ui
