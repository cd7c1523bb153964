// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

struct SwarmState {};

/// Who we are connected to, the last round, and the traffic.
void draw_swarm(Frame& frame, SwarmState& state);

}  // namespace waggle::ui
