// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "ui/frame.hpp"

namespace waggle::ui {

struct LogState {
  std::array<char, 128> search{};
  int level = 0;
};

/// What happened, newest first, with search and a filter.
void draw_log(Frame& frame, LogState& state);

}  // namespace waggle::ui
