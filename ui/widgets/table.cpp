// SPDX-License-Identifier: MIT
#include "ui/widgets/table.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::ui {
namespace {

void aligned(Frame const& frame, Font font, Colour colour, std::string_view words, bool right) {
  float const room = ImGui::GetContentRegionAvail().x;
  float const width = measure(frame, font, words).x;
  // Whole pixels, and one to spare: text() must not find that the last digit does not fit.
  if (right && width < room)
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::floor(room - width) - 1);
  text(frame, font, colour, words);
}

}  // namespace

Table::Table(Frame const& frame, char const* id, std::span<Column const> columns, float comfortable)
    : frame_(frame),
      columns_(columns),
      narrow_(ImGui::GetContentRegionAvail().x < frame.px(comfortable)) {
  auto const shown = std::count_if(
      columns.begin(), columns.end(), [this](Column const& c) { return !(narrow_ && c.optional); });
  open_ = ImGui::BeginTable(id,
                            static_cast<int>(shown),
                            ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp |
                                ImGuiTableFlags_PadOuterX | ImGuiTableFlags_NoSavedSettings);
  if (!open_) return;
  for (auto const& column : columns)
    if (!(narrow_ && column.optional))
      ImGui::TableSetupColumn(column.name, ImGuiTableColumnFlags_WidthStretch, column.weight);
  next_row();
  for (auto const& column : columns) {
    if (narrow_ && column.optional) continue;
    ImGui::TableNextColumn();
    aligned(frame, Font::small, frame.colours().muted, column.name, column.right);
  }
}

Table::~Table() {
  if (open_) ImGui::EndTable();
}

void Table::next_row() {
  if (open_) ImGui::TableNextRow();
  at_ = 0;
}

void Table::cell(std::string_view words, Colour colour) {
  if (!open_ || at_ >= columns_.size()) return;
  auto const& column = columns_[at_++];
  if (narrow_ && column.optional) return;
  ImGui::TableNextColumn();
  aligned(frame_, Font::body, colour, words, column.right);
}

}  // namespace waggle::ui
