// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

/// What a person chooses for this window.
struct Choices {
  Mode mode = Mode::dark;
  Language language = Language::english;
  float size = 1;  ///< on top of the display's own scale
};

/// What is being typed.
struct SettingsState {
  std::string team;
  std::string port;
};

/// "English" and "中文" side by side; what was chosen is kept in waggle.toml.
void choose_language(Frame& frame, Choices& choices);
/// Its width in pixels, for placing.
[[nodiscard]] float language_width(Frame const& frame);

/// How the window looks (kept in waggle.toml), the team's name, how others reach this machine, and
/// the facts of this node.
void draw_settings(Frame& frame, Choices& choices, SettingsState& state);

}  // namespace waggle::ui
