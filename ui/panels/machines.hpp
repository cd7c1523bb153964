// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

struct MachinesState {
  std::array<char, 300> address{};
  std::array<char, 24> code{};
  std::string asked;      ///< the address that is being added, to be cleared once it is
  std::string to_forget;  ///< pressed once: asks once more
  double copied_until = 0;
};

/// The machines that are watched, adding one, and who may watch this one.
void draw_machines(Frame& frame, MachinesState& state);

}  // namespace waggle::ui
