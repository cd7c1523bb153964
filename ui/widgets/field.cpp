// SPDX-License-Identifier: MIT
#include "ui/widgets/field.hpp"

#include <algorithm>
#include <array>

namespace waggle::ui {

bool field(Frame const& frame,
           char const* id,
           std::string& typed,
           std::string const& now,
           char const* hint) {
  auto const& c = frame.colours();
  ImGui::PushID(id);
  auto const key = ImGui::GetID("active");
  auto& storage = *ImGui::GetStateStorage();
  if (!storage.GetBool(key)) typed = now;
  std::array<char, 1024> buffer{};
  std::copy_n(typed.begin(), std::min(typed.size(), buffer.size() - 1), buffer.begin());
  ImGui::PushStyleColor(ImGuiCol_FrameBg, packed(c.control));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, frame.px(9));
  ImGui::PushStyleVar(
      ImGuiStyleVar_FramePadding,
      ImVec2(frame.px(space::m), (frame.px(34) - frame.fonts.get(Font::body)->FontSize) / 2));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  tab_stop(frame);
  ImGui::InputTextWithHint("##field", hint, buffer.data(), buffer.size());
  tab_stopped(frame, id);
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  typed = buffer.data();
  frame.fonts.see(typed);
  bool const ended = ImGui::IsItemDeactivatedAfterEdit();
  storage.SetBool(key, ImGui::IsItemActive());
  ImGui::PopID();
  return ended && typed != now;
}

}  // namespace waggle::ui
