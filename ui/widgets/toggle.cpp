// SPDX-License-Identifier: MIT
#include "ui/widgets/toggle.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::ui {

bool toggle(Frame const& frame, char const* id, char const* words, bool& on) {
  auto const& c = frame.colours();
  ImVec2 const track{frame.px(36), frame.px(20)};
  float const between = frame.px(10);
  auto const at = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  auto* const face = frame.fonts.get(Font::body);
  // Words may take several lines beside the switch.
  float const words_room = std::max(frame.px(40), room - track.x - between);
  auto const extent = face->CalcTextSizeA(face->FontSize, 1e9F, words_room, words);
  float const height = std::max(track.y, extent.y) + frame.px(6);
  tab_stop(frame);
  bool const pressed = ImGui::InvisibleButton(id, {track.x + between + extent.x, height});
  tab_stopped(frame, id);
  if (pressed) on = !on;
  bool const hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  auto& list = *ImGui::GetWindowDrawList();
  float const top = at.y + (height - track.y) / 2;
  auto const face_colour =
      on ? (hovered ? c.fill_hover : c.fill) : (hovered ? c.control_hover : c.control);
  list.AddRectFilled(
      {at.x, top}, {at.x + track.x, top + track.y}, packed(face_colour), track.y / 2);
  // An edge tells the two apart without the hue.
  if (!on)
    list.AddRect({at.x, top},
                 {at.x + track.x, top + track.y},
                 packed(c.muted),
                 track.y / 2,
                 ImDrawFlags_None,
                 std::max(1.0F, frame.px(1)));
  float const radius = track.y / 2 - frame.px(4);
  list.AddCircleFilled({on ? at.x + track.x - track.y / 2 : at.x + track.y / 2, top + track.y / 2},
                       radius,
                       packed(on ? c.on_accent : c.muted));
  list.AddText(face,
               face->FontSize,
               {std::round(at.x + track.x + between), std::round(at.y + (height - extent.y) / 2)},
               packed(c.text),
               words,
               nullptr,
               words_room);
  return pressed;
}

}  // namespace waggle::ui
