// SPDX-License-Identifier: MIT
#include "tests/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include <nlohmann/json.hpp>

namespace waggle::bench {

double best_seconds_per_call(std::function<void()> const& call, double seconds, int runs) {
  using Clock = std::chrono::steady_clock;
  call();  // warm caches and page tables
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    auto const begin = Clock::now();
    double spent = 0;
    int calls = 0;
    while (spent < seconds) {
      call();
      ++calls;
      spent = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    best = std::min(best, spent / calls);
  }
  return best;
}

void print(Rows const& rows, bool json) {
  for (auto const& row : rows) {
    bool const met = row.target == 0 ||
                     (row.larger_is_better ? row.value >= row.target : row.value <= row.target);
    if (json) {
      nlohmann::ordered_json object = {
          {"name", row.name}, {"value", row.value}, {"unit", row.unit}};
      if (row.target != 0) object["target"] = row.target, object["met"] = met;
      if (row.reference != 0)
        object["reference"] = row.reference, object["reference_name"] = row.reference_name,
        object["ratio"] = row.value / row.reference;
      if (!row.note.empty()) object["note"] = row.note;
      std::printf("%s\n", object.dump().c_str());
      continue;
    }
    std::printf("%-44s %10.3f %-8s", row.name.c_str(), row.value, row.unit.c_str());
    if (row.target != 0)
      std::printf(" target %s %-7g %s",
                  row.larger_is_better ? ">=" : "<=",
                  row.target,
                  met ? "met   " : "MISSED");
    if (row.reference != 0)
      std::printf("  %.2f x %s (%.3f)",
                  row.value / row.reference,
                  row.reference_name.c_str(),
                  row.reference);
    if (!row.note.empty()) std::printf("  %s", row.note.c_str());
    std::printf("\n");
  }
}

}  // namespace waggle::bench
