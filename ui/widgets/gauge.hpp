// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// What something does now: its name, its value at the right, and a bar of `share` (0 to 1) below.
/// Negative: the share is not known, and there is no bar.
void gauge(Frame const& frame, std::string_view name, std::string_view value, double share);

}  // namespace waggle::ui
