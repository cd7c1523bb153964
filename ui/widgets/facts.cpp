// SPDX-License-Identifier: MIT
#include "ui/widgets/facts.hpp"

#include <algorithm>

namespace waggle::ui {

void fact(Frame const& frame, Text name, std::string_view value) {
  auto const& c = frame.colours();
  float const begin = ImGui::GetCursorPosX();
  float const label = std::min(frame.px(170), ImGui::GetContentRegionAvail().x * 0.4F);
  text(frame, Font::body, c.muted, fitted(frame, Font::body, frame.tr(name), label));
  ImGui::SameLine(begin + label, 0);
  wrapped(frame, Font::body, c.text, value);
}

}  // namespace waggle::ui
