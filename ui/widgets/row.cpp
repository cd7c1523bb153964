// SPDX-License-Identifier: MIT
#include "ui/widgets/row.hpp"

namespace waggle::ui {

RailRow rail_row(Frame const& frame, char const* id, ImVec2 size, bool chosen) {
  auto const& c = frame.colours();
  RailRow row{};
  row.at = ImGui::GetCursorScreenPos();
  ImGui::PushID(id);
  tab_stop(frame);
  row.pressed = ImGui::Selectable("##row", chosen, ImGuiSelectableFlags_None, size);
  tab_stopped(frame, id);
  ImGui::PopID();
  row.hovered = ImGui::IsItemHovered();
  if (chosen || row.hovered)
    ImGui::GetWindowDrawList()->AddRectFilled(row.at,
                                              {row.at.x + size.x, row.at.y + size.y},
                                              packed(chosen ? c.chosen : with_alpha(c.chosen, 0.5)),
                                              frame.px(9));
  return row;
}

}  // namespace waggle::ui
