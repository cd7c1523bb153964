// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace waggle::ui {

/// The words with line breaks, so that no line is wider than `room`. A line ends at a space, or
/// between two letters where one is Chinese, but neither before a closing mark nor behind an
/// opening one; a word that is too long by itself is cut. `width` measures letters, and those of a
/// text add up. Cost: O(words) calls of `width`.
[[nodiscard]] std::string lines(std::string_view words,
                                float room,
                                std::function<float(std::string_view)> const& width);

}  // namespace waggle::ui
