// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/train/config.hpp"

namespace waggle::train {

/// The learning rate of global epoch `epoch` (0 is the first): a linear warm-up
/// (epoch + 1) / warmup_epochs, then, with t the share of the way from the warm-up's end to
/// total_epochs (at most 1):
///     constant 1 · cosine (1 + cos πt) / 2 · linear 1 − t · step step_factor^⌊epoch / step_every⌋
/// times learning_rate. Every peer computes the same, so it is no state.
[[nodiscard]] double learning_rate(TrainConfig const& config, std::int64_t epoch) noexcept;

/// Whether the rate ever changes: then, and only then, a PyTorch peer attaches a scheduler, which
/// leaves an `initial_lr` in its optimizer's settings.
[[nodiscard]] bool has_schedule(TrainConfig const& config) noexcept;

}  // namespace waggle::train
