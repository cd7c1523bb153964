// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ui/frame.hpp"

namespace waggle::ui {

/// A slider as wide as the space that is left, over a few steps: its name and the words of the step
/// above it. `value` is the index of the step. True once it was let go at another step, not while
/// it is pulled; arrow keys move it too.
bool slider(Frame const& frame,
            char const* id,
            std::string_view name,
            int& value,
            int steps,
            std::function<std::string(int)> const& words);

/// The step that is nearest to `value`; a step of 0 only for 0 itself.
[[nodiscard]] int nearest(std::span<int const> steps, double value);

}  // namespace waggle::ui
