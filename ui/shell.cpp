// SPDX-License-Identifier: MIT
#include "ui/shell.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/machine_rail.hpp"
#include "ui/task_words.hpp"
#include "ui/widgets/icon.hpp"
#include "ui/widgets/pill.hpp"
#include "ui/widgets/row.hpp"

namespace waggle::ui {
namespace {

struct Place {
  Panel panel;
  char const* name;
  Text words;
  Icon shape;
};

constexpr std::array<Place, kPanelCount> kPlaces{
    Place{Panel::home, "home", Text::home, Icon::home},
    Place{Panel::swarm, "swarm", Text::swarm, Icon::swarm},
    Place{Panel::learning, "learning", Text::learning, Icon::learning},
    Place{Panel::hardware, "hardware", Text::hardware, Icon::hardware},
    Place{Panel::projects, "projects", Text::projects, Icon::projects},
    Place{Panel::machines, "machines", Text::machines, Icon::machines},
    Place{Panel::log, "log", Text::log, Icon::log},
    Place{Panel::settings, "settings", Text::settings, Icon::settings}};

constexpr float kRailWide = 176;
constexpr float kRailNarrow = 60;
constexpr float kWideFrom = 860;  // units of window width that leave room for words in the rail
constexpr float kContentMost = 1240;
constexpr float kRow = 40;
constexpr float kTightRow = 32;
constexpr float kFirstHeight = 900;  // of a panel that was never drawn

void brand(Frame const& frame, bool wide) {
  auto const at = ImGui::GetCursorScreenPos();
  auto& list = *ImGui::GetWindowDrawList();
  float const size = frame.px(24);
  float const left = wide ? frame.px(14) : (frame.px(kRailNarrow) - size) / 2;
  float const middle = at.y + frame.px(20);
  icon(list,
       Icon::hive,
       {at.x + left + size / 2, middle},
       size,
       frame.colours().accent,
       frame.theme.scale);
  if (wide) {
    auto const extent = measure(frame, Font::title, "Waggle");
    draw_text(frame,
              list,
              Font::title,
              {at.x + left + size + frame.px(10), middle - extent.y / 2},
              frame.colours().text,
              "Waggle");
  }
  ImGui::Dummy({0, frame.px(kRow)});
}

void place(Frame const& frame, Place const& p, bool wide, bool tight, ShellState& state) {
  auto const& c = frame.colours();
  float const inset = frame.px(wide ? space::s : 8);
  float const width = frame.px(wide ? kRailWide : kRailNarrow) - 2 * inset;
  ImGui::SetCursorPosX(inset);
  ImVec2 const size{width, frame.px(tight ? kTightRow : kRow)};
  bool const chosen = state.panel == p.panel;
  auto const [at, pressed, hovered] = rail_row(frame, p.name, size, chosen);
  if (pressed) state.panel = p.panel;
  auto& list = *ImGui::GetWindowDrawList();
  float const glyph = frame.px(17);
  float const left = wide ? frame.px(12) : (width - glyph) / 2;
  float const middle = at.y + size.y / 2;
  icon(list,
       p.shape,
       {at.x + left + glyph / 2, middle},
       glyph,
       chosen ? c.accent : c.muted,
       frame.theme.scale);
  auto const* const words = frame.tr(p.words);
  if (wide) {
    auto const font = chosen ? Font::strong : Font::body;
    auto const extent = measure(frame, font, words);
    draw_text(frame,
              list,
              font,
              {at.x + left + glyph + frame.px(space::m), middle - extent.y / 2},
              chosen ? c.text : c.muted,
              words);
  } else if (hovered) {
    tooltip(frame, words);
  }
}

void rail(Frame& frame, bool wide, ShellState& state) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, packed(frame.colours().rail));
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
  // A bar so thin that it stands beside the rows, where even tight ones are too many.
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, frame.px(5));
  ImGui::BeginChild(
      "rail", {frame.px(wide ? kRailWide : kRailNarrow), 0}, false, ImGuiWindowFlags_NavFlattened);
  ImGui::PopStyleVar(2);
  constexpr float kAround = space::m + kRow + space::l + space::m;
  float const wanted = kAround + kPanelCount * (kRow + space::s) + machine_rail_height(frame);
  bool const tight = frame.px(wanted) > ImGui::GetIO().DisplaySize.y;
  ImGui::PopStyleColor();
  gap(frame, space::m);
  brand(frame, wide);
  gap(frame, tight ? space::s : space::l);
  for (auto const& p : kPlaces) {
    place(frame, p, wide, tight, state);
    if (!tight) gap(frame, space::xs);
  }
  draw_machine_rail(frame, frame.px(wide ? kRailWide : kRailNarrow), wide, tight);
  ImGui::EndChild();
}

// The panel's name, and how the task is.
void header(Frame const& frame, Text title) {
  auto const& c = frame.colours();
  auto const begin = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  draw_text(frame, *ImGui::GetWindowDrawList(), Font::title, begin, c.text, frame.tr(title));
  float const line = frame.fonts.get(Font::title)->FontSize;
  if (auto const* const t = frame.task()) {
    // What a lost machine did last, it may do no more.
    auto const words = frame.lost() ? machine_words(frame, *frame.machines->shown())
                                    : state_words(condition_of(*t), frame.language);
    auto const colour = frame.lost() ? machine_colour(c, *frame.machines->shown())
                                     : state_colour(c, condition_of(*t));
    auto const size = pill_size(frame, words);
    ImGui::SetCursorScreenPos({begin.x + room - size.x, begin.y + std::floor((line - size.y) / 2)});
    pill(frame, words, colour);
  }
  ImGui::SetCursorScreenPos({begin.x, begin.y + line});
  gap(frame, space::l);
}

void trouble(Frame const& frame, ShellState& state) {
  if (state.trouble.empty()) return;
  wrapped(frame, Font::body, frame.colours().bad, state.trouble);
  gap(frame, space::m);
}

void panel(Frame& frame, ShellState& state) {
  switch (state.panel) {
    case Panel::home:
      return draw_home(frame, state.home);
    case Panel::swarm:
      return draw_swarm(frame, state.swarm);
    case Panel::learning:
      return draw_learning(frame, state.learning);
    case Panel::hardware:
      return draw_hardware(frame, state.hardware);
    case Panel::projects:
      return draw_projects(frame, state.projects);
    case Panel::machines:
      return draw_machines(frame, state.machines);
    case Panel::log:
      return draw_log(frame, state.log);
    case Panel::settings:
      return draw_settings(frame, state.choices, state.settings);
  }
}

// Ctrl+1 … Ctrl+8 go to a panel from wherever the focus is.
void shortcuts(ShellState& state) {
  auto const& io = ImGui::GetIO();
  if (!io.KeyCtrl) return;
  for (int i = 0; i < kPanelCount; ++i)
    if (ImGui::IsKeyPressed('1' + i, false)) {
      state.panel = static_cast<Panel>(i);
      state.tab.fresh = true;
    }
}

// Tab and Shift+Tab, before anything is drawn.
void tab_begin(TabOrder& tab) {
  auto const& io = ImGui::GetIO();
  if (!io.KeyCtrl && !io.KeyAlt && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Tab)) &&
      tab.count > 0) {
    constexpr int kPatience = 4;
    int const step = io.KeyShift ? -1 : 1;
    int const from = tab.fresh                        ? tab.rail - 1 + (io.KeyShift ? 1 : 0)
                     : tab.current < 0 && io.KeyShift ? 0
                                                      : tab.current;
    tab.fresh = false;
    tab.wanted = (from + step + tab.count) % tab.count;
    tab.patience = kPatience;
  }
  tab.count = 0;
  tab.current = -1;
  tab.name.clear();
}

// Behind what is drawn, in the window that scrolls: a card out of sight takes no focus.
void tab_end(TabOrder& tab) {
  if (tab.current == tab.wanted || --tab.patience < 0) tab.wanted = -1;
  if (tab.wanted < 0) return;
  float const top = ImGui::GetWindowPos().y;
  if (tab.y < top || tab.y > top + 0.9F * ImGui::GetWindowHeight())
    ImGui::SetScrollFromPosY(tab.y - top, 0.3F);
}

}  // namespace

char const* name(Panel panel) {
  return kPlaces.at(static_cast<std::size_t>(panel)).name;
}

void draw_shell(Frame& frame, ShellState& state) {
  // Words without letters tell nothing: English then, and Settings says what is missing.
  if (frame.fonts.chinese_missing()) frame.language = Language::english;
  frame.edits = &state.edits;
  state.edits.settle(frame.settings, ImGui::GetTime());
  if (!state.first_run.open) shortcuts(state);
  frame.tab = &state.tab;
  tab_begin(state.tab);
  auto const size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushFont(frame.fonts.get(Font::body));
  ImGui::PushAllowKeyboardFocus(false);  // Tab is ours
  ImGui::Begin("waggle",
               nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  bool const wide = size.x >= frame.px(kWideFrom);
  bool const first_run = state.first_run.open;
  if (!first_run) {
    rail(frame, wide, state);
    ImGui::SameLine(0, 0);
  }
  state.tab.rail = state.tab.count;
  float const side = frame.px(wide ? space::xl : space::l);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(side, frame.px(wide ? 22 : space::l)));
  // Each panel keeps its own scroll.
  ImGui::BeginChild(first_run ? "first run" : name(state.panel),
                    {0, 0},
                    false,
                    ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NavFlattened);
  ImGui::PopStyleVar();
  // On a very wide window lines would become too long to read: the content stays in the middle.
  float const room = ImGui::GetContentRegionAvail().x;
  float const most = frame.px(kContentMost);
  auto const height_key = ImGui::GetID("height");
  float const height = ImGui::GetStateStorage()->GetFloat(height_key, frame.px(kFirstHeight));
  if (room > most) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::floor((room - most) / 2));
  ImGui::BeginChild("content",
                    {std::min(room, most), height},
                    false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse |
                        ImGuiWindowFlags_NavFlattened);
  if (first_run) {
    trouble(frame, state);
    draw_first_run(frame, state.choices, state.first_run);
  } else {
    header(frame, kPlaces.at(static_cast<std::size_t>(state.panel)).words);
    trouble(frame, state);
    draw_machine_banner(frame);
    panel(frame, state);
    if (frame.to_projects) {
      state.panel = Panel::projects;
      state.tab.fresh = true;
    }
  }
  float const wanted = ImGui::GetCursorPosY() + ImGui::GetScrollY();
  ImGui::EndChild();
  ImGui::GetStateStorage()->SetFloat(height_key, wanted);
  tab_end(state.tab);
  ImGui::EndChild();
  ImGui::End();
  ImGui::PopAllowKeyboardFocus();
  ImGui::PopFont();
}

}  // namespace waggle::ui
