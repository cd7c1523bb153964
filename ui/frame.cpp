// SPDX-License-Identifier: MIT
#include "ui/frame.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/utf8.hpp"

#include "ui/lines.hpp"

namespace waggle::ui {

node::TaskView const* Frame::task() const {
  if (snapshot == nullptr) return nullptr;
  for (auto const& task : snapshot->tasks)
    if (task.state != "waiting") return &task;
  return nullptr;
}

bool Frame::is_self(std::string_view peer) const {
  return snapshot != nullptr && snapshot->peer_id == peer;
}

bool Frame::away() const {
  return machines != nullptr && !machines->chosen.empty() && machines->shown() != nullptr;
}

bool Frame::lost() const {
  return away() && machines->shown()->state != Machine::State::watching;
}

bool Frame::may_steer() const {
  return !away() || (machines->shown()->may_control && !lost());
}

node::SettingView const* Frame::setting(std::string_view name) const {
  auto const at = std::ranges::find(settings, name, &node::SettingView::name);
  return at == settings.end() ? nullptr : &*at;
}

std::string Frame::value(std::string_view name) const {
  if (edits != nullptr)
    if (auto const* const asked = edits->find(name)) return *asked;
  auto const* const known = setting(name);
  return known == nullptr ? std::string() : known->value;
}

void Frame::set(std::string name, std::string literal) {
  if (edits != nullptr) edits->note(name, literal, ImGui::GetTime());
  commands.push_back(
      {.kind = node::Command::Kind::set, .name = std::move(name), .value = std::move(literal)});
}

ImVec2 measure(Frame const& frame, Font font, std::string_view words) {
  auto* const face = frame.fonts.get(font);
  frame.fonts.see(words);
  return face->CalcTextSizeA(
      face->FontSize, 1e9F, 0, words.data(), words.data() + words.size(), nullptr);
}

std::string fitted(Frame const& frame, Font font, std::string_view words, float width) {
  if (measure(frame, font, words).x <= width) return std::string(words);
  std::string out(words);
  while (!out.empty()) {
    out.resize(utf8_prefix(out, out.size() - 1).size());
    auto const shown = out + "…";
    if (measure(frame, font, shown).x <= width) return shown;
  }
  return "…";
}

void text(Frame const& frame, Font font, Colour colour, std::string_view words) {
  auto const shown = fitted(frame, font, words, ImGui::GetContentRegionAvail().x);
  ImGui::PushFont(frame.fonts.get(font));
  ImGui::PushStyleColor(ImGuiCol_Text, packed(colour));
  ImGui::TextUnformatted(shown.data(), shown.data() + shown.size());
  ImGui::PopStyleColor();
  ImGui::PopFont();
  if (shown.size() != words.size() && ImGui::IsItemHovered()) tooltip(frame, words);
}

void wrapped(Frame const& frame, Font font, Colour colour, std::string_view words) {
  float const room = ImGui::GetContentRegionAvail().x;
  std::string broken;
  if (words.find('\n') != std::string_view::npos || measure(frame, font, words).x > room) {
    broken =
        lines(words, room, [&](std::string_view letter) { return measure(frame, font, letter).x; });
    words = broken;
  }
  ImGui::PushFont(frame.fonts.get(font));
  ImGui::PushStyleColor(ImGuiCol_Text, packed(colour));
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void draw_text(Frame const& frame,
               ImDrawList& list,
               Font font,
               ImVec2 at,
               Colour colour,
               std::string_view words) {
  auto* const face = frame.fonts.get(font);
  frame.fonts.see(words);
  list.AddText(face,
               face->FontSize,
               {std::round(at.x), std::round(at.y)},
               packed(colour),
               words.data(),
               words.data() + words.size());
}

void tooltip(Frame const& frame, std::string_view words) {
  constexpr float kWidest = 360;
  auto const broken = lines(words, frame.px(kWidest), [&](std::string_view letter) {
    return measure(frame, Font::body, letter).x;
  });
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(frame.px(space::m), frame.px(space::s)));
  ImGui::BeginTooltip();
  ImGui::PushFont(frame.fonts.get(Font::body));
  ImGui::TextUnformatted(broken.data(), broken.data() + broken.size());
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

void tab_stop(Frame const& frame) {
  auto* const tab = frame.tab;
  if (tab == nullptr) return;
  if (tab->count == tab->wanted) {
    ImGui::SetKeyboardFocusHere();
    tab->y = ImGui::GetCursorScreenPos().y;
  }
  ++tab->count;
}

void tab_stopped(Frame const& frame, std::string_view name) {
  auto* const tab = frame.tab;
  // Items of a card out of sight leave the last item as it was: the first one that asks is right.
  if (tab == nullptr || tab->current >= 0 || !ImGui::IsItemFocused()) return;
  tab->current = tab->count - 1;
  tab->name = name;
}

void gap(Frame const& frame, float units) {
  // The item above and Dummy() itself add the item spacing.
  ImGui::Dummy({0, std::max(0.0F, frame.px(units) - 2 * ImGui::GetStyle().ItemSpacing.y)});
}

}  // namespace waggle::ui
