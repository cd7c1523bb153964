// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/demo/goal.hpp"
#include "app/demo/volunteer.hpp"

namespace waggle::app::demo {

/// One object with everything measured. "ok" is whether the goal was reached and nothing was left
/// undone.
[[nodiscard]] nlohmann::ordered_json summarize(Goal const& goal,
                                               std::list<Volunteer>& volunteers,
                                               std::vector<double> const& parameter_differences,
                                               double elapsed_s,
                                               std::vector<std::string> const& problems);

/// The same, for a person.
void print_summary(nlohmann::ordered_json const& summary);

/// RMS of the difference over RMS of `a`, of two safetensors files with the same layout. Errors:
/// io, malformed.
[[nodiscard]] Result<double> relative_difference(std::filesystem::path const& a,
                                                 std::filesystem::path const& b);

}  // namespace waggle::app::demo
