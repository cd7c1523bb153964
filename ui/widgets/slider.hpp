// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

/// A slider as wide as the space that is left over a few steps, the words of the step written in
/// it. `value` is the index of the step. True once it was let go at another step, not while it is
/// pulled; arrow keys move it too.
bool slider(Frame const& frame,
            char const* id,
            int& value,
            int steps,
            std::function<std::string(int)> const& words);

/// The step that is nearest to `value`.
[[nodiscard]] int nearest(std::span<int const> steps, double value);

}  // namespace waggle::ui
