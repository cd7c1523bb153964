// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A sample's picture in a square of `size` pixels: one channel as grey, three as colours; of
/// others the first. Cost: a rectangle for every run of equal pixels.
void picture(Frame const& frame, node::Example const& example, float size);

}  // namespace waggle::ui
