// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "ui/frame.hpp"

namespace waggle::ui {

struct Series {
  Ring const& points;
  Colour colour;
  std::string_view name;
  bool filled = false;
};

struct ChartLook {
  float height = 190;     ///< units
  bool over_time = true;  ///< x is Unix time; else an epoch
  bool from_zero = true;  ///< the y axis begins at 0
  double top = 0;         ///< the y axis ends here; 0: where the figures do
  std::function<std::string(double)> y_words;
};

/// Lines over one axis, a legend with their last values, and what stands under the pointer.
/// Cost: O(points), thinned to the pixels that there are.
void chart(Frame const& frame,
           char const* id,
           std::span<Series const> series,
           ChartLook const& look);

}  // namespace waggle::ui
