// SPDX-License-Identifier: MIT
#pragma once

#include "ui/frame.hpp"

namespace waggle::ui {

/// A name, and beside it its value on as many lines as it takes: a key or an address is of use
/// whole only.
void fact(Frame const& frame, Text name, std::string_view value);

}  // namespace waggle::ui
