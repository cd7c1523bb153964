// SPDX-License-Identifier: MIT
#include "ui/widgets/gauge.hpp"

#include "ui/widgets/progress.hpp"

namespace waggle::ui {

void gauge(Frame const& frame, std::string_view name, std::string_view value, double share) {
  auto const& c = frame.colours();
  auto const at = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  auto& list = *ImGui::GetWindowDrawList();
  auto const shown = fitted(frame, Font::strong, value, room * 0.6F);
  auto const extent = measure(frame, Font::strong, shown);
  draw_text(frame, list, Font::strong, {at.x + room - extent.x, at.y}, c.text, shown);
  draw_text(frame,
            list,
            Font::body,
            at,
            c.muted,
            fitted(frame, Font::body, name, room - extent.x - frame.px(space::s)));
  ImGui::Dummy({room, frame.fonts.get(Font::body)->FontSize});
  if (share >= 0) {
    gap(frame, space::xs);
    bar(frame, share, share, frame.px(8));
  }
  gap(frame, space::s);
}

}  // namespace waggle::ui
