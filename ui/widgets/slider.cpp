// SPDX-License-Identifier: MIT
#include "ui/widgets/slider.hpp"

#include <algorithm>
#include <cmath>

#include "ui/theme.hpp"

namespace waggle::ui {

namespace {

constexpr float kTrack = 6;
constexpr float kKnob = 9;    // its radius
constexpr float kReach = 26;  // of the pointer: as high as this, a fingertip finds it

// The name on the left and room for the words on the right, below it where both are too wide; the
// place of the words' end. What is written there is known only once the slider has moved.
ImVec2 head(Frame const& frame, std::string_view name, std::string_view said) {
  auto const at = ImGui::GetCursorScreenPos();
  float const right = at.x + ImGui::GetContentRegionAvail().x;
  float const needed = measure(frame, Font::body, name).x + frame.px(space::m) +
                       measure(frame, Font::strong, said).x;
  float const line = frame.fonts.get(Font::body)->FontSize;
  if (at.x + needed <= right) {
    draw_text(frame, *ImGui::GetWindowDrawList(), Font::body, at, frame.colours().text, name);
    ImGui::Dummy({0, line});
    return {right, at.y};
  }
  wrapped(frame, Font::body, frame.colours().text, name);
  float const below = ImGui::GetCursorScreenPos().y;
  ImGui::Dummy({0, line});
  return {right, below};
}

// ImGui's own, but unseen: it gives each step the same part of the width.
void behave(Frame const& frame, char const* id, int& shown, int steps) {
  constexpr ImU32 kUnseen = 0;
  for (auto const part : {ImGuiCol_FrameBg,
                          ImGuiCol_FrameBgHovered,
                          ImGuiCol_FrameBgActive,
                          ImGuiCol_SliderGrab,
                          ImGuiCol_SliderGrabActive})
    ImGui::PushStyleColor(part, kUnseen);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, frame.px(kReach / 2));
  ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, 1.0F);
  ImGui::PushStyleVar(
      ImGuiStyleVar_FramePadding,
      ImVec2(frame.px(space::s), (frame.px(kReach) - frame.fonts.get(Font::body)->FontSize) / 2));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  ImGui::PushID(id);
  tab_stop(frame);
  ImGui::SliderInt("##slider", &shown, 0, steps - 1, "", ImGuiSliderFlags_NoInput);
  tab_stopped(frame, id);
  ImGui::PopID();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(5);
}

// From end to end; the knob of a step lies within that step's part of the width.
void draw_track(Frame const& frame, ImVec2 from, ImVec2 to, float share, bool hot) {
  auto const& c = frame.colours();
  auto& list = *ImGui::GetWindowDrawList();
  float const knob = frame.px(kKnob);
  float const middle = std::round((from.y + to.y) / 2);
  float const half = frame.px(kTrack / 2);
  float const at = from.x + knob + share * (to.x - from.x - 2 * knob);
  auto const ink = packed(hot ? c.fill_hover : c.fill);
  list.AddRectFilled({from.x, middle - half}, {to.x, middle + half}, packed(c.control), half);
  list.AddRectFilled({from.x, middle - half}, {at, middle + half}, ink, half);
  list.AddCircleFilled({at, middle}, knob, ink);
  list.AddCircleFilled({at, middle}, frame.px(kKnob - 5), packed(c.card));
}

}  // namespace

bool slider(Frame const& frame,
            char const* id,
            std::string_view name,
            int& value,
            int steps,
            std::function<std::string(int)> const& words) {
  // While it is pulled, the position is the hand's; the setting changes once it is let go.
  auto const key = ImGui::GetID(id);
  auto& storage = *ImGui::GetStateStorage();
  int shown = storage.GetInt(key, -1);
  if (shown < 0) shown = value;
  auto const end = head(frame, name, words(shown));
  behave(frame, id, shown, steps);
  bool const active = ImGui::IsItemActive();
  bool const done = ImGui::IsItemDeactivated();
  bool const hot = active || ImGui::IsItemHovered();
  storage.SetInt(key, active ? shown : -1);
  draw_track(frame,
             ImGui::GetItemRectMin(),
             ImGui::GetItemRectMax(),
             static_cast<float>(shown) / static_cast<float>(std::max(1, steps - 1)),
             hot);
  auto const said = words(shown);
  draw_text(frame,
            *ImGui::GetWindowDrawList(),
            Font::strong,
            {end.x - measure(frame, Font::strong, said).x, end.y},
            frame.colours().text,
            said);
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible && !active)
    tooltip(frame, frame.tr(Text::slider_hint));
  if (!done || shown == value) return false;
  value = shown;
  return true;
}

int nearest(std::span<int const> steps, double value) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    int const step = steps[static_cast<std::size_t>(i)];
    // Nought means something of its own, as "no limit": a small limit is not shown as none.
    if (step == 0 && value != 0) continue;
    if (best < 0 ||
        std::abs(step - value) < std::abs(steps[static_cast<std::size_t>(best)] - value))
      best = i;
  }
  return std::max(best, 0);
}

}  // namespace waggle::ui
