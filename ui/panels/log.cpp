// SPDX-License-Identifier: MIT
#include "ui/panels/log.hpp"

#include <algorithm>
#include <cctype>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"

namespace waggle::ui {
namespace {

constexpr int kMostShown = 300;  // a person searches rather than scrolls further

std::string lower(std::string_view words) {
  std::string out(words);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void line(Frame const& frame, LogLine const& entry, std::string_view words) {
  auto const& c = frame.colours();
  auto const at = ImGui::GetCursorScreenPos();
  auto& list = *ImGui::GetWindowDrawList();
  float const size = frame.fonts.get(Font::body)->FontSize;
  float const x = ImGui::GetCursorPosX();
  auto const colour = entry.level == LogLine::Level::warning ? c.warn
                      : entry.level == LogLine::Level::good  ? c.good
                                                             : c.swarm;
  // A shape for each level: colour alone would not tell everyone.
  ImVec2 const centre{at.x + frame.px(6), at.y + size / 2};
  icon(list,
       entry.level == LogLine::Level::warning ? Icon::warning
       : entry.level == LogLine::Level::good  ? Icon::check
                                              : Icon::dot,
       centre,
       frame.px(11),
       colour,
       frame.theme.scale);
  ImGui::SetCursorPosX(x + frame.px(24));
  text(frame, Font::body, c.muted, clock_time(entry.time));
  ImGui::SameLine(x + frame.px(24 + 76), 0);
  wrapped(frame,
          Font::body,
          c.text,
          entry.times > 1 ? cat(words, "  ×", entry.times) : std::string(words));
}

}  // namespace

void draw_log(Frame& frame, LogState& state) {
  Card const card(frame, "log");
  auto const& c = frame.colours();
  std::array<char const*, 2> const levels{frame.tr(Text::level_all),
                                          frame.tr(Text::level_warnings)};
  ImGui::PushFont(frame.fonts.get(Font::body));
  ImGui::PushStyleVar(
      ImGuiStyleVar_FramePadding,
      ImVec2(frame.px(space::m), (frame.px(30) - frame.fonts.get(Font::body)->FontSize) / 2));
  ImGui::SetNextItemWidth(std::min(frame.px(260), ImGui::GetContentRegionAvail().x * 0.5F));
  tab_stop(frame);
  ImGui::InputTextWithHint(
      "##search", frame.tr(Text::search), state.search.data(), state.search.size());
  tab_stopped(frame, "search");
  frame.fonts.see(state.search.data());
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ImGui::SameLine(0, frame.px(space::m));
  segmented(frame, "level", levels, state.level);
  gap(frame, space::m);
  text(frame, Font::small, c.muted, frame.tr(Text::log_since));
  gap(frame, space::s);
  auto const& lines = frame.history.lines();
  auto const wanted = lower(state.search.data());
  int shown = 0;
  for (auto at = lines.rbegin(); at != lines.rend() && shown < kMostShown; ++at) {
    if (state.level == 1 && at->level != LogLine::Level::warning) continue;
    auto const words = at->text(frame.language);
    if (!wanted.empty() && lower(words).find(wanted) == std::string::npos) continue;
    line(frame, *at, words);
    ++shown;
  }
  if (shown == 0)
    text(
        frame, Font::body, c.muted, frame.tr(lines.empty() ? Text::log_empty : Text::log_no_match));
}

}  // namespace waggle::ui
