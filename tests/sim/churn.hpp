// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/runtime.hpp"

namespace waggle::sim {

/// How long peers stay and stay away, drawn from Weibull distributions of shape 0.5: most sessions
/// are short, a few last for days, as was measured in file-sharing networks. (Stutzbach and Rejaie,
/// "Understanding churn in peer-to-peer networks", 2006, found shapes 0.34 to 0.6.)
class Churn {
 public:
  static constexpr double kShape = 0.5;

  /// Units: seconds, means over all sessions and all absences.
  Churn(double mean_session, double mean_absence)
      : mean_session_(mean_session), mean_absence_(mean_absence) {}

  [[nodiscard]] Duration session(Runtime& runtime) const { return draw(runtime, mean_session_); }

  [[nodiscard]] Duration absence(Runtime& runtime) const { return draw(runtime, mean_absence_); }

 private:
  static Duration draw(Runtime& runtime, double mean) {
    double const scale = mean / std::tgamma(1 + 1 / kShape);
    double const u = std::max(runtime.random_unit(), 1e-12);
    // A year bounds what a double may do to a time point.
    return seconds(std::min(scale * std::pow(-std::log(u), 1 / kShape), 365.0 * 86400));
  }

  double mean_session_;
  double mean_absence_;
};

}  // namespace waggle::sim
