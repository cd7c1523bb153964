// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

struct LearningState {};

/// What the model has learnt: figures and curves over epochs.
void draw_learning(Frame& frame, LearningState& state);

}  // namespace waggle::ui
