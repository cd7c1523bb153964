// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "ui/frame.hpp"
#include "ui/panels/first_run.hpp"
#include "ui/panels/hardware.hpp"
#include "ui/panels/home.hpp"
#include "ui/panels/learning.hpp"
#include "ui/panels/log.hpp"
#include "ui/panels/machines.hpp"
#include "ui/panels/projects.hpp"
#include "ui/panels/settings.hpp"
#include "ui/panels/swarm.hpp"

namespace waggle::ui {

enum class Panel : std::uint8_t {
  home,
  swarm,
  learning,
  hardware,
  projects,
  machines,
  log,
  settings
};
inline constexpr int kPanelCount = 8;

/// "home", "swarm", …: file names and the command line.
[[nodiscard]] char const* name(Panel panel);

/// All that the window remembers from frame to frame.
struct ShellState {
  Panel panel = Panel::home;
  Choices choices;
  HomeState home;
  SwarmState swarm;
  LearningState learning;
  HardwareState hardware;
  ProjectsState projects;
  LogState log;
  MachinesState machines;
  SettingsState settings;
  FirstRunState first_run;
  Edits edits;
  TabOrder tab;
  std::string trouble;  ///< why the last command was not taken; empty: it was
};

/// The whole window: navigation at the left, the chosen panel beside it. Between ImGui::NewFrame
/// and ImGui::Render.
void draw_shell(Frame& frame, ShellState& state);

}  // namespace waggle::ui
