// SPDX-License-Identifier: MIT
#include "ui/theme.hpp"

#include <cmath>

#include <imgui.h>

namespace waggle::ui {
namespace {

ImVec4 vec(Colour c) {
  return ImGui::ColorConvertU32ToFloat4(packed(c));
}

}  // namespace

float Theme::px(float units) const {
  return std::round(units * scale);
}

std::uint32_t packed(Colour c) {
  return IM_COL32(c.r, c.g, c.b, c.a);
}

void apply(Theme const& theme) {
  auto const& p = theme.colours();
  ImGuiStyle style;
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
  style.WindowRounding = 0;
  style.ChildRounding = theme.px(10);
  style.FrameRounding = theme.px(8);
  style.PopupRounding = theme.px(8);
  style.ScrollbarRounding = theme.px(6);
  style.GrabRounding = theme.px(6);
  style.FramePadding = {theme.px(space::m), theme.px(space::s)};
  style.ItemSpacing = {theme.px(space::s), theme.px(space::xs)};
  style.ItemInnerSpacing = {theme.px(space::s), theme.px(space::xs)};
  style.CellPadding = {theme.px(space::s), theme.px(6)};
  style.ScrollbarSize = theme.px(10);
  style.CurveTessellationTol = 0.6F;
  style.CircleTessellationMaxError = 0.2F;

  auto& c = style.Colors;
  auto const clear = ImVec4(0, 0, 0, 0);
  c[ImGuiCol_Text] = vec(p.text);
  c[ImGuiCol_TextDisabled] = vec(p.muted);
  c[ImGuiCol_WindowBg] = vec(p.background);
  c[ImGuiCol_ChildBg] = clear;
  c[ImGuiCol_PopupBg] = vec(p.card);
  c[ImGuiCol_Border] = vec(p.card_border);
  c[ImGuiCol_FrameBg] = vec(p.control);
  c[ImGuiCol_FrameBgHovered] = vec(p.control_hover);
  c[ImGuiCol_FrameBgActive] = vec(p.control_hover);
  c[ImGuiCol_Button] = vec(p.control);
  c[ImGuiCol_ButtonHovered] = vec(p.control_hover);
  c[ImGuiCol_ButtonActive] = vec(p.control_hover);
  c[ImGuiCol_Header] = clear;
  c[ImGuiCol_HeaderHovered] = clear;
  c[ImGuiCol_HeaderActive] = clear;
  c[ImGuiCol_ScrollbarBg] = clear;
  c[ImGuiCol_ScrollbarGrab] = vec(p.scroll);
  c[ImGuiCol_ScrollbarGrabHovered] = vec(p.muted);
  c[ImGuiCol_ScrollbarGrabActive] = vec(p.muted);
  c[ImGuiCol_TableHeaderBg] = clear;
  c[ImGuiCol_TableRowBg] = clear;
  c[ImGuiCol_TableRowBgAlt] = clear;
  c[ImGuiCol_TableBorderLight] = vec(p.grid);
  c[ImGuiCol_TableBorderStrong] = vec(p.grid);
  c[ImGuiCol_NavHighlight] = vec(p.accent);
  c[ImGuiCol_TextSelectedBg] = vec(with_alpha(p.accent_fill, 0.35));
  c[ImGuiCol_CheckMark] = vec(p.accent);
  ImGui::GetStyle() = style;
}

}  // namespace waggle::ui
