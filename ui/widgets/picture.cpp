// SPDX-License-Identifier: MIT
#include "ui/widgets/picture.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::ui {
namespace {

Colour pixel(node::Example const& e, std::size_t x, std::size_t y) {
  auto const plane = std::size_t{e.width} * e.height;
  auto const at = y * e.width + x;
  auto const red = e.pixels[at];
  if (e.channels != 3) return {red, red, red, 255};
  return {red, e.pixels[plane + at], e.pixels[2 * plane + at], 255};
}

}  // namespace

void picture(Frame const& frame, node::Example const& e, float size) {
  auto const begin = ImGui::GetCursorScreenPos();
  ImGui::Dummy({size, size});
  auto const plane = std::size_t{e.width} * e.height;
  if (plane == 0 || e.pixels.size() < plane * (e.channels == 3 ? 3 : 1)) return;
  auto& list = *ImGui::GetWindowDrawList();
  // Whole pixels, so that no seams show between the rectangles.
  float const cell =
      std::max(1.0F, std::floor(size / static_cast<float>(std::max(e.width, e.height))));
  // At the left edge, where the words below begin.
  float const left = begin.x;
  float const top = begin.y + std::floor((size - cell * static_cast<float>(e.height)) / 2);
  for (std::size_t y = 0; y < e.height; ++y)
    for (std::size_t x = 0; x < e.width;) {
      auto const colour = pixel(e, x, y);
      auto const from = x;
      while (x < e.width && pixel(e, x, y) == colour) ++x;
      float const row = top + cell * static_cast<float>(y);
      list.AddRectFilled({left + cell * static_cast<float>(from), row},
                         {left + cell * static_cast<float>(x), row + cell},
                         packed(colour));
    }
  list.AddRect(
      {left, top},
      {left + cell * static_cast<float>(e.width), top + cell * static_cast<float>(e.height)},
      packed(frame.colours().card_border));
}

}  // namespace waggle::ui
