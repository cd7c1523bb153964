// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "app/demo/goal.hpp"
#include "app/demo/volunteer.hpp"

namespace waggle::app::demo {

/// The live table: redrawn in place on a terminal, a line every few seconds elsewhere, nothing with
/// --json.
class Table {
 public:
  explicit Table(bool quiet);
  void draw(std::list<Volunteer> const& volunteers, Goal const& goal, double elapsed_s);

 private:
  bool quiet_;
  bool terminal_;
  double last_drawn_ = -1e9;
  std::size_t lines_ = 0;
};

/// What the peer that measured last found on its sample: accuracy, or for text the held-out loss.
[[nodiscard]] std::optional<double> latest_figure(std::list<Volunteer> const& volunteers);

}  // namespace waggle::app::demo
