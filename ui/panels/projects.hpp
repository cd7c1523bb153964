// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "ui/frame.hpp"

namespace waggle::ui {

struct ProjectsState {
  std::array<char, 2050> link{};  ///< a link has at most 2 KiB
  bool wrong = false;             ///< what was pasted is no link
  double copied_until = 0;
};

/// The tasks of this node, and a place to paste a link.
void draw_projects(Frame& frame, ProjectsState& state);

}  // namespace waggle::ui
