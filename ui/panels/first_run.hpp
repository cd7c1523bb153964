// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "ui/frame.hpp"
#include "ui/panels/settings.hpp"

namespace waggle::ui {

struct FirstRunState {
  bool open = false;  ///< nobody has said yes yet
  int screen = 0;
  std::array<char, 4096> link{};
  bool wrong = false;  ///< what was pasted is no link
};

/// Three screens in place of everything else: what this is and what it will and will not do, with
/// the choice of a language; what
/// it may use; what it shall work on. Until the yes at their end nothing runs. Enter goes on, Alt
/// with the left and right arrow back and forth.
void draw_first_run(Frame& frame, Choices& choices, FirstRunState& state);

}  // namespace waggle::ui
