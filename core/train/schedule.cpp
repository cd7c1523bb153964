// SPDX-License-Identifier: MIT
#include "core/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace waggle::train {

double learning_rate(TrainConfig const& config, std::int64_t epoch) noexcept {
  epoch = std::max<std::int64_t>(epoch, 0);
  auto const warmup = config.warmup_epochs;
  if (epoch < warmup)
    return config.learning_rate * (static_cast<double>(epoch) + 1) / static_cast<double>(warmup);
  if (config.schedule == "step")
    return config.learning_rate *
           std::pow(config.step_factor,
                    static_cast<double>(epoch / std::max<std::int64_t>(config.step_every, 1)));
  if (config.schedule == "constant") return config.learning_rate;
  auto const length = static_cast<double>(std::max<std::int64_t>(config.total_epochs - warmup, 1));
  auto const t = std::min(1.0, static_cast<double>(epoch - warmup) / length);
  if (config.schedule == "linear") return config.learning_rate * (1 - t);
  return config.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * t));
}

bool has_schedule(TrainConfig const& config) noexcept {
  return config.schedule != "constant" || config.warmup_epochs > 0;
}

}  // namespace waggle::train
