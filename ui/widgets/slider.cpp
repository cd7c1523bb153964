// SPDX-License-Identifier: MIT
#include "ui/widgets/slider.hpp"

#include <cmath>

#include "ui/theme.hpp"

namespace waggle::ui {

bool slider(Frame const& frame,
            char const* id,
            int& value,
            int steps,
            std::function<std::string(int)> const& words) {
  auto const& c = frame.colours();
  // While it is pulled, the position is the hand's; the setting changes once it is let go.
  auto const key = ImGui::GetID(id);
  auto& storage = *ImGui::GetStateStorage();
  int shown = storage.GetInt(key, -1);
  if (shown < 0) shown = value;
  ImGui::PushStyleColor(ImGuiCol_FrameBg, packed(c.control));
  ImGui::PushStyleColor(ImGuiCol_FrameBgHovered, packed(c.control_hover));
  ImGui::PushStyleColor(ImGuiCol_FrameBgActive, packed(c.control_hover));
  ImGui::PushStyleColor(ImGuiCol_SliderGrab, packed(c.accent_fill));
  ImGui::PushStyleColor(ImGuiCol_SliderGrabActive, packed(c.accent_hover));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, frame.px(9));
  ImGui::PushStyleVar(ImGuiStyleVar_GrabRounding, frame.px(7));
  ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, frame.px(14));
  float const height = frame.px(28);
  ImGui::PushStyleVar(
      ImGuiStyleVar_FramePadding,
      ImVec2(frame.px(space::s), (height - frame.fonts.get(Font::body)->FontSize) / 2));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  ImGui::PushID(id);
  tab_stop(frame);
  ImGui::SliderInt("##slider", &shown, 0, steps - 1, "", ImGuiSliderFlags_NoInput);
  tab_stopped(frame);
  ImGui::PopID();
  ImGui::PopStyleVar(4);
  ImGui::PopStyleColor(5);
  bool const active = ImGui::IsItemActive();
  bool const done = ImGui::IsItemDeactivated();
  storage.SetInt(key, active ? shown : -1);
  auto const from = ImGui::GetItemRectMin();
  auto const to = ImGui::GetItemRectMax();
  auto const said = words(shown);
  auto const extent = measure(frame, Font::body, said);
  // The words keep clear of the grab: they stand in the half that it is not in.
  bool const grab_left = shown * 2 < steps - 1;
  float const inset = frame.px(space::m);
  draw_text(frame,
            *ImGui::GetWindowDrawList(),
            Font::body,
            {grab_left ? to.x - inset - extent.x : from.x + inset, (from.y + to.y - extent.y) / 2},
            c.text,
            said);
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible && !active)
    tooltip(frame, frame.tr(Text::slider_hint));
  if (!done || shown == value) return false;
  value = shown;
  return true;
}

int nearest(std::span<int const> steps, double value) {
  int best = 0;
  for (int i = 1; i < static_cast<int>(steps.size()); ++i)
    if (std::abs(steps[static_cast<std::size_t>(i)] - value) <
        std::abs(steps[static_cast<std::size_t>(best)] - value))
      best = i;
  return best;
}

}  // namespace waggle::ui
