// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A name and its value on one line; a value that does not fit is cut and shown whole on hovering.
void fact(Frame const& frame, Text name, std::string_view value);

}  // namespace waggle::ui
