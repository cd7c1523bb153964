// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A switch with its words beside it, pressed by mouse or key. True when it changed.
bool toggle(Frame const& frame, char const* id, char const* words, bool& on);

}  // namespace waggle::ui
