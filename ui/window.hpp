// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.hpp"

#include "ui/shell.hpp"
#include "ui/source.hpp"

namespace waggle::ui {

/// How the frames went, for measurements.
struct FrameTimes {
  std::uint64_t drawn = 0;
  std::uint64_t laid_out = 0;  ///< layouts; one that equals what is on the screen is not drawn
  double mean_ms = 0;          ///< of a drawn one, without waiting for the display
  double worst_ms = 0;
  double first_frame_s = 0;   ///< from run() to the first frame on the screen
  double first_frame_at = 0;  ///< CLOCK_MONOTONIC, seconds
};

struct RunOptions {
  ShellState state;
  std::function<bool()> stop;  ///< asked every few seconds and upon wake(); true closes the window
  std::function<void(FrameTimes const&)> end;  ///< called once, when the window is closed
  /// Called with TabOrder::name whenever another control has the keyboard.
  std::function<void(std::string const&)> focus;
};

/// Opens the window and returns when it is closed. Draws upon input and, as Pace says, upon what is
/// new, and nothing while it is hidden. Thread: the main one. Errors: refused (no display, or no
/// OpenGL 3).
[[nodiscard]] Status run(Source& source, RunOptions options);

/// Has run() ask `stop` now. Thread: any; safe before run() and after it.
void wake();

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  ///< rows from the top, 3 bytes a pixel
};

/// Draws frames without a window on the screen, for the tests; still needs a display to talk to.
class Offscreen {
 public:
  /// Errors: refused (no display, or no OpenGL 3).
  [[nodiscard]] static Result<std::unique_ptr<Offscreen>> open();
  ~Offscreen();

  /// One frame as a window of width × height units at `scale` shows it, once its layout has
  /// settled. `snapshot` and `examples` may be null. Errors: refused.
  [[nodiscard]] Result<Picture> draw(node::Snapshot const* snapshot,
                                     node::Examples const* examples,
                                     History const& history,
                                     ShellState const& state,
                                     int width,
                                     int height,
                                     float scale);
  /// From now on these are in the list; null: none. They outlive their use.
  void show_machines(Machines const* machines);

 private:
  struct State;
  explicit Offscreen(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::ui
