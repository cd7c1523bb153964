// SPDX-License-Identifier: MIT
#include "ui/machine_rail.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

#include "ui/format.hpp"
#include "ui/widgets/icon.hpp"
#include "ui/widgets/pill.hpp"
#include "ui/widgets/row.hpp"

namespace waggle::ui {
namespace {

constexpr float kRow = 42;
constexpr float kTightRow = 38;
constexpr float kDot = 9;

// A ring where nothing is heard, so that colour alone does not tell.
void dot(Frame const& frame, ImDrawList& list, ImVec2 centre, Machine const& machine) {
  auto const colour = packed(machine_colour(frame.colours(), machine));
  float const radius = frame.px(kDot) / 2;
  bool const heard =
      machine.state == Machine::State::here || machine.state == Machine::State::watching;
  if (heard)
    list.AddCircleFilled(centre, radius, colour);
  else
    list.AddCircle(centre, radius - frame.px(0.75F), colour, 0, frame.px(1.5F));
}

// The first letter of a name, for a rail without words.
std::string initial(std::string_view name) {
  return std::string(name.substr(0, utf8_next(name, 0)));
}

// A name on one line, or where it is too long on two: the first ends behind a dot, a hyphen or a
// space where one is near, and the second is cut.
std::vector<std::string> name_lines(Frame const& frame,
                                    Font font,
                                    std::string_view name,
                                    float room) {
  if (measure(frame, font, name).x <= room) return {std::string(name)};
  constexpr std::string_view kEllipsis = "…";
  auto first = fitted(frame, font, name, room);
  first.resize(first.size() - kEllipsis.size());
  auto const mark = first.find_last_of(".- ");
  if (mark != std::string::npos && mark > first.size() / 3) first.resize(mark + 1);
  return {first, fitted(frame, font, name.substr(first.size()), room)};
}

void row(Frame& frame, Machine const& machine, float width, bool wide, bool tight) {
  auto const& c = frame.colours();
  auto const& all = *frame.machines;
  float const inset = frame.px(wide ? space::s : 8);
  ImGui::SetCursorPosX(inset);
  bool const chosen = all.chosen == machine.id;
  auto const font = chosen ? Font::strong : Font::body;
  float const indent = frame.px(12 + kDot + 10);
  float const room = width - 2 * inset - frame.px(space::s) - indent;
  auto const names = wide ? name_lines(frame, font, machine.name, room) : std::vector{machine.name};
  float const line = frame.fonts.get(font)->FontSize;
  float const more = line * static_cast<float>(names.size() - 1);
  ImVec2 const size{width - 2 * inset, frame.px(tight ? kTightRow : kRow) + more};
  auto const [at, pressed, hovered] =
      rail_row(frame, machine.id.empty() ? "here" : machine.id.c_str(), size, chosen);
  if (pressed && !chosen)
    frame.machine_requests.push_back({.kind = MachineRequest::Kind::choose, .id = machine.id});
  auto& list = *ImGui::GetWindowDrawList();
  float const middle = at.y + size.y / 2;
  auto const words = machine_words(frame, machine);
  if (!wide) {
    auto const letter = initial(machine.name);
    auto const extent = measure(frame, Font::strong, letter);
    draw_text(frame,
              list,
              Font::strong,
              {at.x + (size.x - extent.x) / 2, middle - extent.y / 2},
              chosen ? c.text : c.muted,
              letter);
    dot(frame, list, {at.x + size.x - frame.px(8), at.y + frame.px(9)}, machine);
    if (hovered) tooltip(frame, cat(machine.name, "\n", words));
    return;
  }
  float const left = at.x + indent;
  dot(frame, list, {at.x + frame.px(12) + frame.px(kDot) / 2, middle}, machine);
  auto const small = measure(frame, Font::small, words).y;
  float y = middle - (line + more + small) / 2 - frame.px(2);  // letters stand low in their lines
  std::string shown;
  for (auto const& name : names) {
    draw_text(frame, list, font, {left, y}, chosen ? c.text : c.muted, name);
    y += line;
    shown += name;
  }
  auto const below = fitted(frame, Font::small, words, room);
  draw_text(frame, list, Font::small, {left, y}, c.muted, below);
  if (hovered && (shown != machine.name || below != words || !machine.why.empty()))
    tooltip(frame,
            cat(machine.name,
                "\n",
                machine.why.empty() ? words : sentence(translated(machine.why, frame.language))));
}

}  // namespace

Colour machine_colour(Palette const& c, Machine const& machine) {
  switch (machine.state) {
    case Machine::State::here:
    case Machine::State::watching:
      return machine.task.empty() ? c.swarm : state_colour(c, machine.task_state);
    case Machine::State::lost:
      return c.warn;
    case Machine::State::refused:
      return c.bad;
    case Machine::State::idle:
    case Machine::State::connecting:
      break;
  }
  return c.muted;
}

std::string machine_words(Frame const& frame, Machine const& machine) {
  auto const& l = frame.language;
  switch (machine.state) {
    case Machine::State::here:
    case Machine::State::watching:
      if (machine.task.empty()) return frame.tr(Text::machine_no_task);
      return state_words(machine.task_state, l);
    case Machine::State::idle:
      return frame.tr(Text::machine_idle);
    case Machine::State::connecting:
      return frame.tr(Text::machine_connecting);
    case Machine::State::refused:
      return frame.tr(Text::machine_refused);
    case Machine::State::lost:
      break;
  }
  double const ago = frame.machines == nullptr ? 0 : frame.machines->now - machine.since;
  return fill(Text::machine_lost_ago, l, {rough_duration(std::max(0.0, ago), l)});
}

float machine_rail_height(Frame const& frame) {
  if (frame.machines == nullptr || frame.machines->all.size() < 2) return 0;
  constexpr float kHead = 40;
  return kHead + (kRow + space::s) * static_cast<float>(frame.machines->all.size());
}

void draw_machine_rail(Frame& frame, float width, bool wide, bool tight) {
  if (frame.machines == nullptr || frame.machines->all.size() < 2) return;
  gap(frame, space::m);
  if (wide) {
    ImGui::SetCursorPosX(frame.px(space::s + 12));
    text(frame, Font::small, frame.colours().muted, frame.tr(Text::machines));
    gap(frame, space::xs);
  } else {
    auto const at = ImGui::GetCursorScreenPos();
    float const inset = frame.px(12);
    ImGui::GetWindowDrawList()->AddLine({at.x + inset, at.y},
                                        {at.x + width - inset, at.y},
                                        packed(frame.colours().grid),
                                        frame.px(1));
    gap(frame, space::s);
  }
  for (auto const& machine : frame.machines->all) {
    row(frame, machine, width, wide, tight);
    if (!tight) gap(frame, 2);
  }
}

void draw_machine_banner(Frame const& frame) {
  auto const* const machine = frame.machines == nullptr ? nullptr : frame.machines->shown();
  if (machine == nullptr || machine->id.empty()) return;
  auto const& c = frame.colours();
  auto const& l = frame.language;
  auto const say = [&](Colour colour, std::string const& words) {
    wrapped(frame, Font::body, colour, words);
    gap(frame, space::m);
  };
  switch (machine->state) {
    case Machine::State::lost:
      return say(c.warn,
                 fill(Text::banner_lost,
                      l,
                      {machine->name, clock_time(machine->since), translated(machine->why, l)}));
    case Machine::State::refused:
      return say(c.bad, fill(Text::banner_refused, l, {machine->name}));
    case Machine::State::connecting:
      return say(c.muted,
                 fill(Text::banner_connecting, l, {machine->name, translated(machine->why, l)}));
    default:
      break;
  }
  if (!machine->may_control) say(c.muted, fill(Text::banner_watch_only, l, {machine->name}));
}

}  // namespace waggle::ui
