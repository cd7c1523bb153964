// SPDX-License-Identifier: MIT
#include "ui/machine_rail.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

#include "ui/format.hpp"
#include "ui/widgets/icon.hpp"
#include "ui/widgets/pill.hpp"
#include "ui/widgets/row.hpp"

namespace waggle::ui {
namespace {

constexpr float kRow = 42;
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

void row(Frame& frame, Machine const& machine, float width, bool wide) {
  auto const& c = frame.colours();
  auto const& all = *frame.machines;
  float const inset = frame.px(wide ? space::s : 8);
  ImGui::SetCursorPosX(inset);
  ImVec2 const size{width - 2 * inset, frame.px(kRow)};
  bool const chosen = all.chosen == machine.id;
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
    if (hovered) ImGui::SetTooltip("%s\n%s", machine.name.c_str(), words.c_str());
    return;
  }
  float const left = at.x + frame.px(12 + kDot + 10);
  float const room = at.x + size.x - frame.px(space::s) - left;
  dot(frame, list, {at.x + frame.px(12) + frame.px(kDot) / 2, middle}, machine);
  auto const font = chosen ? Font::strong : Font::body;
  auto const name = fitted(frame, font, machine.name, room);
  auto const line = measure(frame, font, name).y;
  auto const small = measure(frame, Font::small, words).y;
  float const top = middle - (line + small) / 2;
  draw_text(frame, list, font, {left, top}, chosen ? c.text : c.muted, name);
  draw_text(frame,
            list,
            Font::small,
            {left, top + line},
            c.muted,
            fitted(frame, Font::small, words, room));
  if (hovered && (name != machine.name || !machine.why.empty()))
    ImGui::SetTooltip(
        "%s\n%s", machine.name.c_str(), machine.why.empty() ? words.c_str() : machine.why.c_str());
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
  return fill(Text::machine_lost_ago, l, {duration(std::max(0.0, ago), l)});
}

void draw_machine_rail(Frame& frame, float width, bool wide) {
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
    row(frame, machine, width, wide);
    gap(frame, 2);
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
