// SPDX-License-Identifier: MIT
#include "ui/widgets/card.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace waggle::ui {
namespace {

constexpr float kFirstHeight = 120;  // of a card that was never drawn

}  // namespace

Card::Card(Frame const& frame, char const* id, float width, float min_height)
    : frame_(frame), id_(ImGui::GetID(id)) {
  float const available = ImGui::GetContentRegionAvail().x;
  float const last = ImGui::GetStateStorage()->GetFloat(id_, frame.px(kFirstHeight));
  height_ = std::max(last, min_height);
  auto const& colours = frame.colours();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, packed(colours.card));
  ImGui::PushStyleColor(ImGuiCol_Border, packed(colours.card_border));
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, frame.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(frame.px(space::l), frame.px(space::l)));
  ImGui::PushStyleVar(ImGuiStyleVar_ChildBorderSize, std::max(1.0F, frame.px(1)));
  seen_ = ImGui::BeginChild(id_,
                            {std::floor(width > 0 ? width : available), height_},
                            true,
                            ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse |
                                ImGuiWindowFlags_NavFlattened);
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
}

Card::~Card() {
  // A card that is scrolled out of sight lays nothing out: its height stays.
  float const wanted = ImGui::GetCursorPosY() + ImGui::GetScrollY() -
                       ImGui::GetStyle().ItemSpacing.y + frame_.px(space::l);
  ImGui::EndChild();
  if (seen_) ImGui::GetStateStorage()->SetFloat(id_, std::ceil(wanted));
}

float Card::wanted_height(char const* id) {
  return ImGui::GetStateStorage()->GetFloat(ImGui::GetID(id), 0);
}

Columns::Columns(Frame const& frame, char const* id, float least, int most, Fill fill)
    : frame_(frame), gap_(frame.px(space::m)), begin_(ImGui::GetCursorScreenPos()) {
  float const available = ImGui::GetContentRegionAvail().x;
  available_ = available;
  columns_ = std::clamp(static_cast<int>((available + gap_) / (frame.px(least) + gap_)), 1, most);
  // Four in rows of three would leave one alone.
  if (most % 2 == 0 && columns_ == most - 1) columns_ = most / 2;
  ImGui::PushID(id);
  id_ = ImGui::GetID("row");
  if (fill == Fill::stacked) ends_.assign(static_cast<std::size_t>(columns_), begin_.y);
}

void Columns::place() {
  if (!ends_.empty()) {
    ImGui::SetCursorScreenPos({left_of(at_), ends_[static_cast<std::size_t>(at_)]});
    return;
  }
  if (at_ == 0)
    row_height_ = ImGui::GetStateStorage()->GetFloat(id_ + static_cast<ImGuiID>(row_), 0);
  ImGui::SetCursorScreenPos({left_of(at_), begin_.y});
}

// Whole pixels, and the last one ends where the space does.
float Columns::left_of(int column) const {
  return begin_.x + std::floor(static_cast<float>(column) * (available_ + gap_) /
                               static_cast<float>(columns_));
}

void Columns::placed(char const* id) {
  if (!ends_.empty()) {
    ends_[static_cast<std::size_t>(at_)] += Card::wanted_height(id) + gap_;
    at_ = (at_ + 1) % columns_;
    return;
  }
  highest_ = std::max(highest_, Card::wanted_height(id));
  if (++at_ == columns_) end_row();
}

void Columns::end_row() {
  ImGui::GetStateStorage()->SetFloat(id_ + static_cast<ImGuiID>(row_), highest_);
  begin_.y += std::max(highest_, row_height_) + gap_;
  at_ = 0;
  ++row_;
  highest_ = 0;
}

Columns::~Columns() {
  if (!ends_.empty())
    begin_.y = std::ranges::max(ends_);
  else if (at_ > 0)
    end_row();
  ImGui::PopID();
  ImGui::SetCursorScreenPos(begin_);
}

void heading(Frame const& frame, std::string_view words) {
  text(frame, Font::strong, frame.colours().muted, words);
  gap(frame, space::s);
}

}  // namespace waggle::ui
