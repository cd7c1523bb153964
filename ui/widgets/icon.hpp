// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <imgui.h>

#include "ui/palette.hpp"

namespace waggle::ui {

enum class Icon : std::uint8_t {
  none,
  hive,  ///< Waggle's own: a cell of a comb
  home,
  swarm,
  learning,
  hardware,  ///< a chip with its legs
  projects,
  machines,  ///< a screen on its foot
  log,
  settings,
  play,
  pause,
  flag,
  copy,
  check,
  cross,
  warning,
  dot,
};

/// Draws it in a square of `size` pixels around `centre`, lines as thick as the scale asks.
void icon(ImDrawList& list, Icon shape, ImVec2 centre, float size, Colour colour, float scale);

}  // namespace waggle::ui
