// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace waggle::optim {

/// Turns the sum of the gradients of `samples` (≥ 1) samples into their mean, in place. Together
/// with weight = samples, the group's weighted mean is that over the union of all samples, whatever
/// the batches' sizes (hivemind: only for equal ones). One division a value, so that a peer alone
/// gets what a plain trainer gets, bit for bit. One pass.
void mean_of_sum(std::span<float> sum, std::uint64_t samples) noexcept;

/// The weight of so many samples in a gradient round: others refuse more than the target batch.
[[nodiscard]] double round_weight(std::uint64_t samples, std::uint64_t target_batch_size) noexcept;

}  // namespace waggle::optim
