// SPDX-License-Identifier: MIT
#include "ui/widgets/button.hpp"

#include <cmath>

#include "core/base/text.hpp"

namespace waggle::ui {
namespace {

constexpr float kHeight = 38;
constexpr float kSides = 16;
constexpr float kIcon = 14;
constexpr float kInset = 3;  // between the chosen one and the edge of them all

}  // namespace

float button_width(Frame const& frame, char const* words, Icon icon) {
  float const icon_room = icon == Icon::none ? 0 : frame.px(kIcon + space::s);
  return std::ceil(measure(frame, Font::strong, words).x + icon_room + 2 * frame.px(kSides));
}

bool button(Frame const& frame,
            char const* id,
            char const* words,
            ButtonKind kind,
            Icon shape,
            char const* hint,
            float width) {
  auto const& c = frame.colours();
  bool const primary = kind == ButtonKind::primary;
  ImVec2 const size{width > 0 ? width : button_width(frame, words, shape), frame.px(kHeight)};
  ImGui::PushID(id);
  ImGui::PushStyleColor(ImGuiCol_Button, packed(primary ? c.accent_fill : c.control));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, packed(primary ? c.accent_hover : c.control_hover));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, packed(primary ? c.accent_hover : c.control_hover));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, frame.px(10));
  auto const at = ImGui::GetCursorScreenPos();
  tab_stop(frame);
  bool const pressed = ImGui::Button("##button", size);
  tab_stopped(frame, id);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopID();
  if (hint != nullptr && ImGui::IsItemHovered()) tooltip(frame, hint);

  auto& list = *ImGui::GetWindowDrawList();
  auto const ink = primary ? c.on_accent : c.text;
  auto const extent = measure(frame, Font::strong, words);
  float const icon_room = shape == Icon::none ? 0 : frame.px(kIcon + space::s);
  float x = at.x + (size.x - extent.x - icon_room) / 2;
  if (shape != Icon::none)
    icon(list,
         shape,
         {x + frame.px(kIcon) / 2, at.y + size.y / 2},
         frame.px(kIcon),
         ink,
         frame.theme.scale);
  x += icon_room;
  draw_text(frame, list, Font::strong, {x, at.y + (size.y - extent.y) / 2}, ink, words);
  return pressed;
}

bool segmented(Frame const& frame,
               char const* id,
               std::span<char const* const> words,
               int& chosen) {
  auto const& c = frame.colours();
  auto& list = *ImGui::GetWindowDrawList();
  float const height = frame.px(30);
  float const inset = frame.px(kInset);
  auto const begin = ImGui::GetCursorScreenPos();
  float const total = segmented_width(frame, words);
  list.AddRectFilled(begin, {begin.x + total, begin.y + height}, packed(c.control), frame.px(9));
  bool changed = false;
  float x = begin.x + inset;
  ImGui::PushID(id);
  for (int i = 0; i < static_cast<int>(words.size()); ++i) {
    auto const* const word = words[static_cast<std::size_t>(i)];
    auto const extent = measure(frame, Font::body, word);
    float const width = std::ceil(extent.x) + 2 * frame.px(space::m);
    ImVec2 const at{x, begin.y + inset};
    ImVec2 const size{width, height - 2 * inset};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(i);
    ImGui::PushStyleColor(ImGuiCol_Button, packed(i == chosen ? c.card : with_alpha(c.card, 0)));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, packed(i == chosen ? c.card : c.control_hover));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, packed(c.card));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, frame.px(7));
    tab_stop(frame);
    bool const pressed = ImGui::Button("##segment", size);
    tab_stopped(frame, cat(id, "/", i));
    if (pressed && chosen != i) {
      chosen = i;
      changed = true;
    }
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(3);
    ImGui::PopID();
    draw_text(frame,
              list,
              Font::body,
              {x + (width - extent.x) / 2, at.y + (size.y - extent.y) / 2},
              i == chosen ? c.text : c.muted,
              word);
    x += width;
  }
  ImGui::PopID();
  // The whole is what the next item stands beside or below.
  ImGui::SetCursorScreenPos(begin);
  ImGui::Dummy({total, height});
  return changed;
}

float segmented_width(Frame const& frame, std::span<char const* const> words) {
  float total = 2 * frame.px(kInset);
  for (auto const* const word : words)
    total += std::ceil(measure(frame, Font::body, word).x) + 2 * frame.px(space::m);
  return total;
}

}  // namespace waggle::ui
