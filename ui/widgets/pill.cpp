// SPDX-License-Identifier: MIT
#include "ui/widgets/pill.hpp"

#include <cmath>

namespace waggle::ui {
namespace {

constexpr float kHeight = 24;
constexpr float kSides = 11;
constexpr float kDot = 7;

}  // namespace

ImVec2 pill_size(Frame const& frame, std::string_view words) {
  return {std::ceil(measure(frame, Font::small, words).x) + frame.px(2 * kSides + kDot + 6),
          frame.px(kHeight)};
}

void pill(Frame const& frame, std::string_view words, Colour colour) {
  auto const at = ImGui::GetCursorScreenPos();
  auto const size = pill_size(frame, words);
  auto& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(
      at, {at.x + size.x, at.y + size.y}, packed(with_alpha(colour, kPillTint)), size.y / 2);
  float const middle = at.y + size.y / 2;
  list.AddCircleFilled(
      {at.x + frame.px(kSides) + frame.px(kDot) / 2, middle}, frame.px(kDot) / 2, packed(colour));
  auto const extent = measure(frame, Font::small, words);
  draw_text(frame,
            list,
            Font::small,
            {at.x + frame.px(kSides + kDot + 6), middle - extent.y / 2 - frame.px(1)},
            colour,
            words);
  ImGui::Dummy(size);
}

Colour state_colour(Palette const& c, std::string_view state) {
  if (state == "training" || state == "done") return c.good;
  if (state == "failed") return c.bad;
  if (state == "paused" || state == "resting" || state == "full" || state == "finishing")
    return c.warn;
  if (state == "choice") return c.accent;
  return c.swarm;
}

}  // namespace waggle::ui
