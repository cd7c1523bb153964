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
Rows desktop();
Rows dht();
Rows stream();

void print(Rows const& rows, bool json);

}  // namespace waggle::bench
