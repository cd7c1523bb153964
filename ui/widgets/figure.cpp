// SPDX-License-Identifier: MIT
#include "ui/widgets/figure.hpp"

namespace waggle::ui {

void figure(Frame const& frame,
            std::string_view label,
            std::string_view number,
            std::string_view unit,
            std::string_view below) {
  auto const& c = frame.colours();
  text(frame, Font::body, c.muted, label);
  auto const at = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  auto const extent = measure(frame, Font::big, number);
  text(frame, Font::big, c.text, number);
  if (!unit.empty()) {
    // Both stand on one line of writing.
    float const ascent = frame.fonts.get(Font::big)->Ascent - frame.fonts.get(Font::body)->Ascent;
    float const left = extent.x + frame.px(6);
    if (left < room)
      draw_text(frame,
                *ImGui::GetWindowDrawList(),
                Font::body,
                {at.x + left, at.y + ascent},
                c.muted,
                fitted(frame, Font::body, unit, room - left));
  }
  if (!below.empty()) wrapped(frame, Font::small, c.muted, below);
}

void small_figure(Frame const& frame,
                  std::string_view number,
                  std::string_view label,
                  float width) {
  auto const& c = frame.colours();
  ImGui::BeginGroup();
  auto const at = ImGui::GetCursorScreenPos();
  float const room = width - frame.px(space::s);
  auto& list = *ImGui::GetWindowDrawList();
  draw_text(frame, list, Font::title, at, c.text, fitted(frame, Font::title, number, room));
  float const line = frame.fonts.get(Font::title)->FontSize;
  draw_text(frame,
            list,
            Font::small,
            {at.x, at.y + line + frame.px(2)},
            c.muted,
            fitted(frame, Font::small, label, room));
  ImGui::Dummy({width, line + frame.px(2) + frame.fonts.get(Font::small)->FontSize});
  ImGui::EndGroup();
}

}  // namespace waggle::ui
