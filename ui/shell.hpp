// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "ui/frame.hpp"
#include "ui/panels/home.hpp"
#include "ui/panels/learning.hpp"
#include "ui/panels/log.hpp"
#include "ui/panels/projects.hpp"
#include "ui/panels/settings.hpp"
#include "ui/panels/swarm.hpp"

namespace waggle::ui {

enum class Panel : std::uint8_t { home, swarm, learning, projects, log, settings };
inline constexpr int kPanelCount = 6;

/// "home", "swarm", …: file names and the command line.
[[nodiscard]] char const* name(Panel panel);

/// All that the window remembers from frame to frame.
struct ShellState {
  Panel panel = Panel::home;
  Choices choices;
  HomeState home;
  SwarmState swarm;
  LearningState learning;
  ProjectsState projects;
  LogState log;
  std::string trouble;  ///< why the last command was not taken; empty: it was
};

/// The whole window: navigation at the left, the chosen panel beside it. Between ImGui::NewFrame
/// and ImGui::Render.
void draw_shell(Frame& frame, ShellState& state);

}  // namespace waggle::ui
