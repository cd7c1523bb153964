// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

struct ProjectsState {
  std::array<char, 2050> link{};  ///< a link has at most 2 KiB
  bool wrong = false;             ///< what was pasted is no link
  std::string copied;             ///< whose link was: OPERATOR/PREFIX
  double copied_until = 0;
  std::string leaving;    ///< the task that a person is asked about once more: OPERATOR/PREFIX
  double browse_at = -1;  ///< when the public directory is asked for again
};

/// The tasks of this node, a place to paste a link, and the cards of tasks that could be joined.
void draw_projects(Frame& frame, ProjectsState& state);

}  // namespace waggle::ui
