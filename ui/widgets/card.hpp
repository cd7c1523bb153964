// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "ui/frame.hpp"

namespace waggle::ui {

/// A raised surface as wide as the space that is left (or `width`) and as high as its content,
/// which is drawn between construction and destruction. GetContentRegionAvail inside is the card's.
/// The height is the last frame's, so a new card needs two frames to look right.
class Card {
 public:
  Card(Frame const& frame, char const* id, float width = 0, float min_height = 0);
  ~Card();
  Card(Card const&) = delete;
  Card& operator=(Card const&) = delete;

  /// What the content asked for, padding included; known after the content was drawn once.
  [[nodiscard]] static float wanted_height(char const* id);

 private:
  Frame const& frame_;
  ImGuiID id_;
  float height_;
  bool seen_;
};

/// Cards side by side, as many a row as fit at `least` units, at most `most`. In rows all of one
/// end at the same height; stacked, each stands close below the one above it.
class Columns {
 public:
  enum class Fill : std::uint8_t { rows, stacked };

  Columns(Frame const& frame, char const* id, float least, int most, Fill fill = Fill::rows);
  ~Columns();
  Columns(Columns const&) = delete;
  Columns& operator=(Columns const&) = delete;

  /// Draws the next card's content by `content`.
  template <class F>
  void card(char const* id, F const& content) {
    place();
    {
      Card const inside(frame_, id, left_of(at_ + 1) - left_of(at_) - gap_, row_height_);
      content();
    }
    placed(id);
  }

  [[nodiscard]] int count() const { return columns_; }

 private:
  void place();
  void placed(char const* id);
  [[nodiscard]] float left_of(int column) const;
  void end_row();

  Frame const& frame_;
  int columns_;
  float available_;
  float gap_;
  ImVec2 begin_;
  int at_ = 0;
  int row_ = 0;
  float row_height_ = 0;     // of the last frame
  float highest_ = 0;        // of this frame's row so far
  std::vector<float> ends_;  // of each column so far, where they are stacked
  ImGuiID id_;
};

/// A card's heading: small, muted.
void heading(Frame const& frame, std::string_view words);

}  // namespace waggle::ui
