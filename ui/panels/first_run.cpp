// SPDX-License-Identifier: MIT
#include "ui/panels/first_run.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/text.hpp"

#include "ui/panels/limits.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/icon.hpp"

namespace waggle::ui {
namespace {

constexpr int kScreens = 3;
constexpr float kWidth = 620;

// ImGui 1.86 asks for the platform's number of a key.
bool pressed(ImGuiKey key) {
  return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), false);
}

void sentence(Frame const& frame, Icon mark, Colour colour, Text words) {
  auto const at = ImGui::GetCursorScreenPos();
  float const size = frame.px(14);
  float const line = frame.fonts.get(Font::body)->FontSize;
  icon(*ImGui::GetWindowDrawList(),
       mark,
       {at.x + size / 2, at.y + line / 2},
       size,
       colour,
       frame.theme.scale);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + size + frame.px(space::m));
  wrapped(frame, Font::body, frame.colours().text, frame.tr(words));
  gap(frame, space::s);
}

// The title, and on the right of it, before anything is read, the language to read it in.
void welcome(Frame& frame, Choices& choices) {
  auto const at = ImGui::GetCursorPos();
  float const right = at.x + ImGui::GetContentRegionAvail().x - language_width(frame);
  text(frame, Font::title, frame.colours().text, frame.tr(Text::first_title));
  auto const below = ImGui::GetCursorPos();
  ImGui::SetCursorPos({right, at.y - frame.px(space::xs)});
  choose_language(frame, choices);
  ImGui::SetCursorPos(below);
}

void what(Frame& frame, Choices& choices) {
  auto const& c = frame.colours();
  welcome(frame, choices);
  gap(frame, space::s);
  wrapped(frame, Font::body, c.muted, frame.tr(Text::first_what));
  gap(frame, space::l);
  heading(frame, frame.tr(Text::first_will));
  for (auto const words : {Text::first_will_1, Text::first_will_2, Text::first_will_3})
    sentence(frame, Icon::check, c.good, words);
  gap(frame, space::m);
  heading(frame, frame.tr(Text::first_wont));
  for (auto const words : {Text::first_wont_1, Text::first_wont_2, Text::first_wont_3})
    sentence(frame, Icon::cross, c.bad, words);
}

void limits(Frame& frame) {
  auto const& c = frame.colours();
  text(frame, Font::title, c.text, frame.tr(Text::first_limits_title));
  gap(frame, space::s);
  wrapped(frame, Font::body, c.muted, frame.tr(Text::first_limits_text));
  gap(frame, space::l);
  text(frame, Font::body, c.text, frame.tr(Text::power));
  gap(frame, space::xs);
  limit_power(frame);
  gap(frame, space::m);
  limit_battery(frame);
  gap(frame, space::s);
  limit_idle(frame);
  limit_disk(frame);
  limit_update_notice(frame);
}

std::string_view typed(FirstRunState const& state) {
  std::string_view link(state.link.data());
  while (!link.empty() && (link.front() == ' ' || link.front() == '\n')) link.remove_prefix(1);
  while (!link.empty() && (link.back() == ' ' || link.back() == '\n')) link.remove_suffix(1);
  return link;
}

void project(Frame const& frame, FirstRunState& state) {
  auto const& c = frame.colours();
  text(frame, Font::title, c.text, frame.tr(Text::first_project_title));
  gap(frame, space::s);
  wrapped(frame, Font::body, c.muted, frame.tr(Text::first_project_text));
  gap(frame, space::l);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, packed(c.control));
  ImGui::PushStyleVar(
      ImGuiStyleVar_FramePadding,
      ImVec2(frame.px(space::m), (frame.px(38) - frame.fonts.get(Font::body)->FontSize) / 2));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  tab_stop(frame);
  bool const edited = ImGui::InputTextWithHint(
      "##link", frame.tr(Text::join_hint), state.link.data(), state.link.size());
  tab_stopped(frame, "link");
  frame.fonts.see(state.link.data());
  if (edited) state.wrong = false;
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  gap(frame, space::s);
  if (state.wrong) wrapped(frame, Font::body, c.bad, frame.tr(Text::link_is_wrong));
}

// The yes: from here on it runs, and it is asked no more.
void agree(Frame& frame, FirstRunState& state) {
  auto const link = typed(state);
  if (!link.empty()) {
    state.wrong = !link.starts_with("waggle:");
    if (state.wrong) return;
    frame.join = link;
  }
  frame.set("window.first_run_done", literal(true));
  state.open = false;
}

void steps(Frame& frame, FirstRunState& state) {
  auto const& c = frame.colours();
  bool const last = state.screen == kScreens - 1;
  auto const* const go_on = frame.tr(!last                  ? Text::next
                                     : typed(state).empty() ? Text::first_later
                                                            : Text::first_agree);
  auto const at = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  // A dot a screen, and in words for who does not see them.
  auto& list = *ImGui::GetWindowDrawList();
  float const middle = at.y + frame.px(19);
  for (int i = 0; i < kScreens; ++i)
    list.AddCircleFilled({at.x + frame.px(4 + 16 * static_cast<float>(i)), middle},
                         frame.px(i == state.screen ? 5 : 3.5F),
                         packed(i == state.screen ? c.accent : c.muted));
  draw_text(frame,
            list,
            Font::small,
            {at.x + frame.px(52), middle - frame.fonts.get(Font::small)->FontSize / 2},
            c.muted,
            fill(Text::step_of, frame.language, {cat(state.screen + 1), cat(kScreens)}));
  float const next_width = button_width(frame, go_on);
  float const back_width = button_width(frame, frame.tr(Text::back));
  bool back = false;
  if (state.screen > 0) {
    ImGui::SetCursorScreenPos({at.x + room - next_width - back_width - frame.px(space::s), at.y});
    back = button(frame, "back", frame.tr(Text::back)) ||
           (ImGui::IsItemFocused() && pressed(ImGuiKey_Enter));
  }
  ImGui::SetCursorScreenPos({at.x + room - next_width, at.y});
  // Enter goes on from anywhere but a field that is being typed into, or the button back.
  bool const entered = !back && !ImGui::IsAnyItemActive() && pressed(ImGuiKey_Enter);
  if (back) --state.screen;
  if (button(frame, "next", go_on, ButtonKind::primary) || entered) {
    if (last)
      agree(frame, state);
    else
      ++state.screen;
  }
}

void arrows(FirstRunState& state) {
  if (!ImGui::GetIO().KeyAlt) return;
  if (pressed(ImGuiKey_LeftArrow)) --state.screen;
  if (pressed(ImGuiKey_RightArrow)) ++state.screen;
  state.screen = std::clamp(state.screen, 0, kScreens - 1);
}

}  // namespace

void draw_first_run(Frame& frame, Choices& choices, FirstRunState& state) {
  arrows(state);
  float const room = ImGui::GetContentRegionAvail().x;
  float const width = std::min(room, frame.px(kWidth));
  float const left = ImGui::GetCursorPosX() + std::floor((room - width) / 2);
  ImGui::SetCursorPosX(left);
  float const high = Card::wanted_height("first run");
  float const spare = ImGui::GetIO().DisplaySize.y - high;
  // A third of what is free above, two below: the eye looks for it there. On a small window the
  // sign makes room.
  if (high > 0 && spare > frame.px(120)) {
    ImGui::Dummy({0, std::floor(spare / 3 - frame.px(60))});
    ImGui::SetCursorPosX(left);
    auto const at = ImGui::GetCursorScreenPos();
    icon(*ImGui::GetWindowDrawList(),
         Icon::hive,
         {at.x + frame.px(20), at.y + frame.px(20)},
         frame.px(40),
         frame.colours().accent,
         frame.theme.scale * 1.4F);
    ImGui::Dummy({0, frame.px(52)});
    ImGui::SetCursorPosX(left);
  }
  Card const card(frame, "first run", width);
  int const screen = state.screen;
  if (screen == 0) what(frame, choices);
  if (screen == 1) limits(frame);
  if (screen == 2) project(frame, state);
  gap(frame, space::l);
  steps(frame, state);
}

}  // namespace waggle::ui
