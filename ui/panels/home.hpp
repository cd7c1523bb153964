// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

struct HomeState {
  int period = 0;  ///< of the contribution: day, week, all
};

/// What runs, how far the epoch is, what you gave, and the one big button.
void draw_home(Frame& frame, HomeState& state);

}  // namespace waggle::ui
