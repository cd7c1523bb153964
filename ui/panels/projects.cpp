// SPDX-License-Identifier: MIT
#include "ui/panels/projects.hpp"

#include <cstring>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/facts.hpp"
#include "ui/widgets/pill.hpp"
#include "ui/widgets/progress.hpp"

namespace waggle::ui {
namespace {

constexpr double kCopiedFor = 2;  // seconds that the button says so

void task_card(Frame const& frame, node::TaskView const& t, ProjectsState& state) {
  auto const& c = frame.colours();
  Card const card(frame, cat(t.operator_id, "/", t.prefix).c_str());
  auto const begin = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  auto const words = state_words(t.state, frame.language);
  float const pill_width = pill_size(frame, words).x;
  draw_text(frame,
            *ImGui::GetWindowDrawList(),
            Font::title,
            begin,
            c.text,
            fitted(frame,
                   Font::title,
                   t.title.empty() ? t.prefix : t.title,
                   room - pill_width - frame.px(space::m)));
  ImGui::SetCursorScreenPos({begin.x + room - pill_width, begin.y});
  pill(frame, words, state_colour(c, t.state));
  ImGui::SetCursorScreenPos({begin.x, begin.y + frame.fonts.get(Font::title)->FontSize});
  gap(frame, space::s);
  text(frame,
       Font::body,
       c.muted,
       fill(Text::project_joined,
            frame.language,
            {count(static_cast<double>(t.samples_given), frame.language)}));
  if (!t.reason.empty())
    wrapped(frame,
            Font::body,
            t.state == "failed" ? c.bad : c.warn,
            translated(t.reason, frame.language));
  if (t.state == "fetching" && t.fetch_total > 0) {
    gap(frame, space::s);
    double const share = static_cast<double>(t.fetch_done) / static_cast<double>(t.fetch_total);
    bar(frame, share, share, frame.px(8));
    text(frame,
         Font::small,
         c.muted,
         fill(Text::fetched_of,
              frame.language,
              {bytes(static_cast<double>(t.fetch_done)),
               bytes(static_cast<double>(t.fetch_total))}));
  }
  gap(frame, space::l);
  fact(frame, Text::prefix, t.prefix);
  fact(frame, Text::operator_key, t.operator_id);
  if (t.link.empty()) return;
  fact(frame, Text::link, t.link);
  gap(frame, space::m);
  bool const copied = ImGui::GetTime() < state.copied_until;
  if (button(frame,
             "copy",
             frame.tr(copied ? Text::copied : Text::copy_link),
             ButtonKind::quiet,
             copied ? Icon::check : Icon::copy)) {
    ImGui::SetClipboardText(t.link.c_str());
    state.copied_until = ImGui::GetTime() + kCopiedFor;
  }
}

bool is_link(std::string_view text) {
  constexpr std::string_view kScheme = "waggle:";
  return text.starts_with(kScheme) && text.size() > kScheme.size();
}

void join(Frame& frame, ProjectsState& state) {
  auto const& c = frame.colours();
  Card const card(frame, "join");
  text(frame, Font::title, c.text, frame.tr(Text::join_title));
  gap(frame, space::xs);
  wrapped(frame, Font::body, c.muted, frame.tr(Text::join_text));
  gap(frame, space::m);
  float const side = button_width(frame, frame.tr(Text::join));
  float const room = ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(frame.fonts.get(Font::body));
  auto const line = frame.fonts.get(Font::body)->FontSize;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(frame.px(space::m), (frame.px(38) - line) / 2));
  ImGui::SetNextItemWidth(room - side - frame.px(space::s));
  bool const entered = ImGui::InputTextWithHint("##link",
                                                frame.tr(Text::join_hint),
                                                state.link.data(),
                                                state.link.size(),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ImGui::SameLine(0, frame.px(space::s));
  if (button(frame, "join", frame.tr(Text::join), ButtonKind::primary) || entered) {
    std::string_view link(state.link.data());
    while (!link.empty() && (link.front() == ' ' || link.front() == '\n')) link.remove_prefix(1);
    while (!link.empty() && (link.back() == ' ' || link.back() == '\n')) link.remove_suffix(1);
    state.wrong = !is_link(link);
    if (!state.wrong) frame.join = link;
  }
  if (state.wrong) text(frame, Font::body, c.bad, frame.tr(Text::link_is_wrong));
}

}  // namespace

void draw_projects(Frame& frame, ProjectsState& state) {
  if (frame.snapshot != nullptr)
    for (auto const& t : frame.snapshot->tasks) {
      task_card(frame, t, state);
      gap(frame, space::m);
    }
  if (frame.can_join) {
    join(frame, state);
    return;
  }
  Card const card(frame, "later");
  bool const none = frame.task() == nullptr;
  text(frame,
       Font::strong,
       frame.colours().text,
       frame.tr(none ? Text::no_projects : Text::join_title));
  wrapped(frame,
          Font::body,
          frame.colours().muted,
          frame.tr(none ? Text::no_node_text : Text::join_later));
}

}  // namespace waggle::ui
