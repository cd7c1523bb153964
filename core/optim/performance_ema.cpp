// SPDX-License-Identifier: MIT
#include "core/optim/performance_ema.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/optim/progress.hpp"

namespace waggle::optim {

void PerformanceEma::update(std::uint64_t samples, double seconds) noexcept {
  WAGGLE_ASSERT(samples > 0, "an average over nothing");
  auto const each = std::max(seconds, 0.0) / static_cast<double>(samples);
  ema_ = alpha_ * each + (1 - alpha_) * ema_;
  remaining_ *= 1 - alpha_;
  ++updates_;
}

double PerformanceEma::samples_per_second() const noexcept {
  if (updates_ == 0) return kNoRate;
  double const corrected = ema_ / (1 - remaining_);
  return 1.0 / std::max(corrected, kNoRate);
}

}  // namespace waggle::optim
