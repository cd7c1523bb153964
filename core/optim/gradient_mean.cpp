// SPDX-License-Identifier: MIT
#include "core/optim/gradient_mean.hpp"

#include <algorithm>

#include "core/base/assert.hpp"

namespace waggle::optim {

void mean_of_sum(std::span<float> sum, std::uint64_t samples) noexcept {
  WAGGLE_ASSERT(samples > 0, "the mean of nothing");
  auto const n = static_cast<float>(samples);
  for (float& value : sum) value /= n;
}

double round_weight(std::uint64_t samples, std::uint64_t target_batch_size) noexcept {
  return static_cast<double>(std::min(samples, target_batch_size));
}

}  // namespace waggle::optim
