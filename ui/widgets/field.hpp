// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

/// A text field as wide as the space that is left. Untouched it shows `now`; true once what was
/// typed into it, then in `typed`, was ended by Enter or by going elsewhere and is another.
bool field(Frame const& frame,
           char const* id,
           std::string& typed,
           std::string const& now,
           char const* hint = "");

}  // namespace waggle::ui
