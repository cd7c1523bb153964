// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "ui/frame.hpp"

namespace waggle::ui {

/// What is being typed into a limit's field.
struct LimitsState {
  std::string trainer;
  std::string quiet_hours;
  std::string programs;
};

/// As settings count memory and a day's traffic: "512 MiB", "5 GiB", "2.1 GiB".
[[nodiscard]] std::string mebibytes(double mib);

/// One limit each, with its words: what it does now and what a change asks for. All are settings of
/// waggle.toml; a limit that a flag holds says so and cannot be changed. Nothing is drawn for a
/// setting that the node does not know.
void limit_power(Frame& frame);  ///< light, medium, full, and what that means here
void limit_threads(Frame& frame);
void limit_share(Frame& frame);
void limit_others(Frame& frame);  ///< other programs' use of the processor
void limit_heat(Frame& frame);
void limit_disk(Frame& frame);
void limit_memory(Frame& frame);
void limit_rates(Frame& frame);  ///< bytes a second, down and up
void limit_daily(Frame& frame);  ///< bytes a day
void limit_sleep(Frame& frame);  ///< keep_awake
void limit_battery(Frame& frame);
void limit_update_notice(Frame& frame);  ///< only where the program has a release key
void limit_metered(Frame& frame);
void limit_idle(Frame& frame);
void limit_gpu_idle(Frame& frame);
void limit_gpu_share(Frame& frame);
void limit_gpu_memory(Frame& frame);
void limit_gpu_power(Frame& frame);  ///< watts
/// Which trainer is started: the person's own may have an engine for graphics processors.
void own_trainer(Frame& frame, LimitsState& state);
void limit_hours(Frame& frame, LimitsState& state);
void limit_programs(Frame& frame, LimitsState& state);

}  // namespace waggle::ui
