// SPDX-License-Identifier: MIT
#include "ui/panels/machines.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/machine.hpp"
#include "ui/machine_rail.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/facts.hpp"
#include "ui/widgets/pill.hpp"

namespace waggle::ui {
namespace {

using Kind = MachineRequest::Kind;

constexpr double kCopiedFor = 2;  // seconds that the button says so

std::string below(Frame const& frame, Machine const& m) {
  auto const& l = frame.language;
  if (m.id.empty()) return frame.tr(Text::this_node);
  auto const right = frame.tr(m.may_control ? Text::right_control : Text::right_watch);
  if (m.state == Machine::State::watching && !m.task.empty()) return cat(m.task, " · ", right);
  if (m.why.empty()) return right;
  return cat(right, " · ", translated(m.why, l));
}

// Pressed twice before it is done: the second time it asks.
bool sure(Frame const& frame, MachinesState& state, std::string const& id, Text words) {
  bool const asks = state.to_forget == id;
  ImGui::PushID(id.c_str());
  bool const pressed = button(frame, "sure", frame.tr(asks ? Text::really : words));
  ImGui::PopID();
  if (!pressed) return false;
  state.to_forget = asks ? std::string() : id;
  return asks;
}

void machine_row(Frame& frame, Machine const& m, MachinesState& state) {
  auto const& c = frame.colours();
  auto const begin = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  auto const words = machine_words(frame, m);
  auto const size = pill_size(frame, words);
  bool const away = !m.id.empty();
  bool const asks = state.to_forget == m.id;
  float const side =
      away ? button_width(frame, frame.tr(asks ? Text::really : Text::forget_machine)) +
                 frame.px(space::m)
           : 0;
  auto const line = frame.fonts.get(Font::strong)->FontSize;
  float const left = room - side - size.x - frame.px(space::m);
  auto& list = *ImGui::GetWindowDrawList();
  float const both = line + frame.px(3) + frame.fonts.get(Font::small)->FontSize;
  float const top = begin.y + std::floor((frame.px(38) - both) / 2);
  draw_text(
      frame, list, Font::strong, {begin.x, top}, c.text, fitted(frame, Font::strong, m.name, left));
  draw_text(frame,
            list,
            Font::small,
            {begin.x, top + line + frame.px(3)},
            c.muted,
            fitted(frame, Font::small, below(frame, m), left));
  ImGui::SetCursorScreenPos(
      {begin.x + room - side - size.x, begin.y + std::floor((frame.px(38) - size.y) / 2)});
  pill(frame, words, machine_colour(c, m));
  if (away) {
    ImGui::SetCursorScreenPos({begin.x + room - side + frame.px(space::m), begin.y});
    if (sure(frame, state, m.id, Text::forget_machine))
      frame.machine_requests.push_back({.kind = Kind::forget, .id = m.id});
  }
  ImGui::SetCursorScreenPos({begin.x, begin.y + frame.px(38)});
  gap(frame, space::m);
}

void list_of_machines(Frame& frame, MachinesState& state) {
  Card const card(frame, "machines");
  heading(frame, frame.tr(Text::machines_watched));
  for (auto const& m : frame.machines->all) machine_row(frame, m, state);
  if (frame.machines->all.size() < 2)
    wrapped(frame, Font::body, frame.colours().muted, frame.tr(Text::machines_none));
}

bool input(
    Frame const& frame, char const* id, Text hint, char* into, std::size_t size, float width) {
  ImGui::PushFont(frame.fonts.get(Font::body));
  auto const line = frame.fonts.get(Font::body)->FontSize;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(frame.px(space::m), (frame.px(38) - line) / 2));
  ImGui::SetNextItemWidth(width);
  tab_stop(frame);
  bool const entered = ImGui::InputTextWithHint(
      cat("##", id).c_str(), frame.tr(hint), into, size, ImGuiInputTextFlags_EnterReturnsTrue);
  tab_stopped(frame, id);
  frame.fonts.see(into);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return entered;
}

void add(Frame& frame, MachinesState& state) {
  auto const& c = frame.colours();
  auto const& all = *frame.machines;
  Card const card(frame, "add");
  heading(frame, frame.tr(Text::machine_add));
  wrapped(frame, Font::body, c.muted, frame.tr(Text::machine_add_text));
  gap(frame, space::m);
  if (!all.pairing && !state.asked.empty()) {
    if (all.trouble.empty()) state.address = {}, state.code = {};
    state.asked.clear();
  }
  float const room = ImGui::GetContentRegionAvail().x;
  auto const* const words = frame.tr(all.pairing ? Text::machine_adding : Text::machine_add_button);
  float const side = button_width(frame, words);
  float const code = frame.px(130);
  bool const narrow = room < frame.px(480);
  float const gaps = frame.px(space::s) * (narrow ? 1 : 2);
  bool entered = input(frame,
                       "address",
                       Text::machine_address_hint,
                       state.address.data(),
                       state.address.size(),
                       narrow ? room : room - side - code - gaps);
  if (narrow)
    gap(frame, space::s);
  else
    ImGui::SameLine(0, frame.px(space::s));
  entered |= input(frame,
                   "code",
                   Text::machine_code_hint,
                   state.code.data(),
                   state.code.size(),
                   narrow ? room - side - gaps : code);
  ImGui::SameLine(0, frame.px(space::s));
  bool const pressed = button(frame, "add", words, ButtonKind::primary) || entered;
  if (pressed && !all.pairing && state.address[0] != '\0') {
    state.asked = state.address.data();
    frame.machine_requests.push_back(
        {.kind = Kind::add, .address = state.address.data(), .code = state.code.data()});
  }
  if (!all.trouble.empty()) {
    gap(frame, space::s);
    wrapped(frame, Font::body, c.bad, sentence(translated(all.trouble, frame.language)));
  }
}

void shown_code(Frame& frame, MachinesState& state) {
  auto const& c = frame.colours();
  auto const& all = *frame.machines;
  auto const at = ImGui::GetCursorScreenPos();
  float const size = frame.fonts.get(Font::big)->FontSize;
  draw_text(frame, *ImGui::GetWindowDrawList(), Font::big, at, c.accent, all.code);
  ImGui::Dummy({0, size});
  gap(frame, space::xs);
  double const left = std::max(0.0, all.here.pairing_until - all.now);
  // To the half minute: a label that changes each second would be drawn each second.
  double const rounded = std::ceil(left / 30) * 30;
  text(frame,
       Font::body,
       c.muted,
       fill(Text::code_holds, frame.language, {duration(rounded, frame.language)}));
  gap(frame, space::s);
  fact(frame, Text::addresses, all.address);
  if (all.here.pairing_tries > 0)
    text(frame,
         Font::body,
         c.warn,
         fill(Text::code_tries, frame.language, {cat(all.here.pairing_tries)}));
  gap(frame, space::m);
  bool const copied = ImGui::GetTime() < state.copied_until;
  if (button(frame,
             "copy",
             frame.tr(copied ? Text::copied : Text::copy),
             ButtonKind::quiet,
             copied ? Icon::check : Icon::copy)) {
    ImGui::SetClipboardText(cat(all.address, " ", all.code).c_str());
    state.copied_until = ImGui::GetTime() + kCopiedFor;
  }
  ImGui::SameLine(0, frame.px(space::s));
  if (button(frame, "hide", frame.tr(Text::code_withdraw)))
    frame.machine_requests.push_back({.kind = Kind::hide_code});
}

void let_watch(Frame& frame, MachinesState& state) {
  auto const& c = frame.colours();
  auto const& all = *frame.machines;
  Card const card(frame, "let watch");
  heading(frame, frame.tr(Text::let_watch));
  if (!all.here.served) {
    wrapped(frame, Font::body, c.muted, frame.tr(Text::let_watch_not_now));
    return;
  }
  wrapped(frame, Font::body, c.muted, frame.tr(Text::let_watch_text));
  gap(frame, space::m);
  if (!all.code.empty()) {
    shown_code(frame, state);
  } else {
    if (button(frame, "watch", frame.tr(Text::show_code_watch)))
      frame.machine_requests.push_back({.kind = Kind::show_code});
    bool const narrow = ImGui::GetContentRegionAvail().x < frame.px(480);
    if (narrow)
      gap(frame, space::s);
    else
      ImGui::SameLine(0, frame.px(space::s));
    if (button(frame, "control", frame.tr(Text::show_code_control)))
      frame.machine_requests.push_back({.kind = Kind::show_code, .control = true});
  }
  if (all.here.paired.empty()) return;
  gap(frame, space::l);
  heading(frame, frame.tr(Text::watchers));
  for (auto const& w : all.here.paired) {
    auto const begin = ImGui::GetCursorScreenPos();
    float const room = ImGui::GetContentRegionAvail().x;
    bool const asks = state.to_forget == w.peer_id;
    float const side = button_width(frame, frame.tr(asks ? Text::really : Text::remove_watcher));
    auto const right = frame.tr(w.right == "control" ? Text::right_control : Text::right_watch);
    auto const seen = w.connected ? cat(" · ", frame.tr(Text::watch_connected)) : std::string();
    float const left = room - side - frame.px(space::m);
    auto& list = *ImGui::GetWindowDrawList();
    draw_text(frame, list, Font::strong, begin, c.text, fitted(frame, Font::strong, w.name, left));
    draw_text(frame,
              list,
              Font::small,
              {begin.x, begin.y + frame.fonts.get(Font::strong)->FontSize + frame.px(3)},
              c.muted,
              fitted(frame, Font::small, cat(right, seen, " · ", short_id(w.peer_id)), left));
    ImGui::SetCursorScreenPos({begin.x + room - side, begin.y});
    if (sure(frame, state, w.peer_id, Text::remove_watcher))
      frame.machine_requests.push_back({.kind = Kind::unpair, .id = w.peer_id});
    ImGui::SetCursorScreenPos({begin.x, begin.y + frame.px(38)});
    gap(frame, space::m);
  }
}

}  // namespace

void draw_machines(Frame& frame, MachinesState& state) {
  if (frame.machines == nullptr) return;
  list_of_machines(frame, state);
  gap(frame, space::m);
  add(frame, state);
  gap(frame, space::m);
  let_watch(frame, state);
}

}  // namespace waggle::ui
