// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace waggle::bench {

/// One measured figure beside its target, both in `unit`. `reference` is what was measured in the
/// same run to compare with (0: nothing), so a slow or busy machine shows in both.
struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  double target = 0;  ///< 0: no target
  bool larger_is_better = true;
  double reference = 0;
  std::string reference_name;
  std::string note;
};

using Rows = std::vector<Row>;

/// Best of several runs, each at least `seconds` long: seconds a call. The best, because other
/// programs only ever slow one down.
double best_seconds_per_call(std::function<void()> const& call,
                             double seconds = 0.15,
                             int runs = 5);

Rows allreduce();
Rows codec();
/// `only` one part of it: file, window (a paused node and a window on it), training (beside the
/// window) or step (the first one over a line); empty: all.
Rows desktop(std::string const& only);
[[nodiscard]] bool is_part_of_desktop(std::string const& name);
Rows dht();
Rows stream();

/// A window with a cleared OpenGL context and nothing else, as a process of its own: what a first
/// frame costs whoever draws it. Prints when that was on the screen. Returns an exit code.
int bare_window();
inline constexpr char kBareWindow[] = "bare-window";

void print(Rows const& rows, bool json);

}  // namespace waggle::bench
