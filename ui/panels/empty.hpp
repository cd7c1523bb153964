// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// What a panel shows where there is no node, or a node without a task: what that means and what to
/// do, with the way to the projects.
void draw_empty(Frame& frame);

}  // namespace waggle::ui
