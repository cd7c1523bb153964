// SPDX-License-Identifier: MIT
#include "ui/widgets/bars.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

#include "ui/format.hpp"

namespace waggle::ui {
namespace {

constexpr double kDay = 86'400;

// A span of a day or more is named by its date, a shorter one by its hour.
std::string when(node::SpanView const& span, double width) {
  return width < kDay ? clock_time(span.begin).substr(0, 5) : date(span.begin);
}

}  // namespace

void bars(Frame const& frame, char const* id, std::span<node::SpanView const> spans, float height) {
  auto const& c = frame.colours();
  auto& list = *ImGui::GetWindowDrawList();
  auto const at = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  float const tall = frame.px(height);
  float const line = frame.fonts.get(Font::small)->FontSize;
  ImGui::InvisibleButton(id, {room, tall + frame.px(space::xs) + line});
  bool const hovered = ImGui::IsItemHovered();
  list.AddLine({at.x, at.y + tall}, {at.x + room, at.y + tall}, packed(c.grid), frame.px(1));
  if (spans.empty()) return;
  std::uint64_t most = 1;
  for (auto const& span : spans) most = std::max(most, span.samples);
  float const step = room / static_cast<float>(spans.size());
  float const between = std::min(frame.px(3), step / 4);
  float const pointer = ImGui::GetIO().MousePos.x;
  double const width = spans.size() < 2 ? 7 * kDay : spans[1].begin - spans[0].begin;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    float const left = at.x + step * static_cast<float>(i);
    bool const under = hovered && pointer >= left && pointer < left + step;
    double const share = static_cast<double>(spans[i].samples) / static_cast<double>(most);
    // What is not nothing is never drawn as nothing.
    float const part =
        spans[i].samples == 0 ? 0 : std::max(frame.px(2), tall * static_cast<float>(share));
    float const right = left + std::min(step, frame.px(40)) - between;
    if (part > 0)
      list.AddRectFilled({left, at.y + tall - part},
                         {right, at.y + tall},
                         packed(under ? c.fill_hover : c.fill),
                         std::min(frame.px(3), part / 2),
                         ImDrawFlags_RoundCornersTop);
    if (!under) continue;
    tooltip(frame,
            cat(when(spans[i], width),
                "  ",
                count(static_cast<double>(spans[i].samples), frame.language),
                " ",
                frame.tr(Text::samples)));
  }
  auto const first = when(spans.front(), width);
  draw_text(frame, list, Font::small, {at.x, at.y + tall + frame.px(space::xs)}, c.muted, first);
  std::string const last = frame.tr(Text::now);
  draw_text(frame,
            list,
            Font::small,
            {at.x + room - measure(frame, Font::small, last).x, at.y + tall + frame.px(space::xs)},
            c.muted,
            last);
}

}  // namespace waggle::ui
