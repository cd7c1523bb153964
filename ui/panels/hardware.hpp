// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"
#include "ui/panels/limits.hpp"

namespace waggle::ui {

struct HardwareState {
  LimitsState limits;
};

/// What this machine does, now and over the last hour, and beside each gauge what Waggle may use.
void draw_hardware(Frame& frame, HardwareState& state);

}  // namespace waggle::ui
