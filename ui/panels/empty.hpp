// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// What a panel shows where there is no node, or a node without a task: what that means and what to
/// do.
void draw_empty(Frame const& frame);

}  // namespace waggle::ui
