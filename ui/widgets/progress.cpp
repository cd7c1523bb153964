// SPDX-License-Identifier: MIT
#include "ui/widgets/progress.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::ui {
namespace {

double clamped(double share) {
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
}

}  // namespace

void ring(Frame const& frame,
          double share,
          Colour colour,
          float diameter,
          std::string_view words,
          std::string_view below) {
  constexpr float kTau = 6.2831853F;
  constexpr float kTop = -kTau / 4;
  auto const at = ImGui::GetCursorScreenPos();
  auto& list = *ImGui::GetWindowDrawList();
  float const thick = std::round(diameter * 0.075F);
  float const radius = (diameter - thick) / 2;
  ImVec2 const centre{at.x + diameter / 2, at.y + diameter / 2};
  list.AddCircle(centre, radius, packed(frame.colours().control), 96, thick);
  auto const part = static_cast<float>(clamped(share));
  if (part > 0) {
    list.PathArcTo(
        centre, radius, kTop, kTop + kTau * part, std::max(4, static_cast<int>(96 * part)));
    list.PathStroke(packed(colour), ImDrawFlags_None, thick);
    // Round ends.
    for (float const angle : {kTop, kTop + kTau * part})
      list.AddCircleFilled(
          {centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)},
          thick / 2,
          packed(colour));
  }
  auto const size = measure(frame, Font::title, words);
  float const room = diameter - 2 * thick - frame.px(space::s);
  auto const hint = fitted(frame, Font::small, below, room);
  auto const hint_size = measure(frame, Font::small, hint);
  float const top = centre.y - (size.y + (below.empty() ? 0 : hint_size.y)) / 2;
  draw_text(frame, list, Font::title, {centre.x - size.x / 2, top}, frame.colours().text, words);
  if (!below.empty())
    draw_text(frame,
              list,
              Font::small,
              {centre.x - hint_size.x / 2, top + size.y},
              frame.colours().muted,
              hint);
  ImGui::Dummy({diameter, diameter});
}

void bar(Frame const& frame, double share, double ours, float height) {
  auto const at = ImGui::GetCursorScreenPos();
  float const width = ImGui::GetContentRegionAvail().x;
  auto& list = *ImGui::GetWindowDrawList();
  auto const& c = frame.colours();
  auto const piece = [&](double part, Colour colour) {
    auto const end = static_cast<float>(clamped(part)) * width;
    if (end > 0)
      list.AddRectFilled(
          at, {at.x + std::max(end, height), at.y + height}, packed(colour), height / 2);
  };
  list.AddRectFilled(at, {at.x + width, at.y + height}, packed(c.control), height / 2);
  // Not both where ours is all of it: the edges of the one below would shine through.
  if (ours < share) piece(share, c.swarm);
  piece(std::min(share, ours), c.fill);
  ImGui::Dummy({width, height});
}

}  // namespace waggle::ui
