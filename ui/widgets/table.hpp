// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "ui/frame.hpp"

namespace waggle::ui {

struct Column {
  char const* name;
  float weight = 1;
  bool right = false;     ///< figures stand at the right edge
  bool optional = false;  ///< left out where space is short
};

/// A table as wide as its place, a line under each row. Columns marked optional go first when the
/// place is narrower than `comfortable` units. Between begin_ and end_table call next_row(), then
/// cell() for every column in order.
class Table {
 public:
  Table(Frame const& frame, char const* id, std::span<Column const> columns, float comfortable);
  ~Table();
  Table(Table const&) = delete;
  Table& operator=(Table const&) = delete;

  void next_row();
  void cell(std::string_view words, Colour colour);

  void cell(std::string_view words) { cell(words, frame_.colours().text); }

 private:
  Frame const& frame_;
  std::span<Column const> columns_;
  bool narrow_;
  bool open_;
  std::size_t at_ = 0;
};

}  // namespace waggle::ui
