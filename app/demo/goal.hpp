// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace waggle::app::demo {

/// What was asked of the run.
struct Goal {
  std::string task;   ///< resnet | gpt
  double target = 0;  ///< accuracy to reach; for gpt the part of the bigram's loss to stay below
  std::size_t peers = 4;
  double time_limit_s = 0;
  std::string codec;       ///< the task's, for gradients
  double bigram_loss = 0;  ///< gpt: what a bigram table reaches on the held-out part, nats a byte

  [[nodiscard]] bool is_text() const noexcept { return task == "gpt"; }

  /// The accuracy, or for gpt the loss, that a figure on held-out data is compared with.
  [[nodiscard]] double threshold() const noexcept {
    return is_text() ? target * bigram_loss : target;
  }

  [[nodiscard]] bool reached_by(double figure) const noexcept {
    return is_text() ? figure <= threshold() : figure >= threshold();
  }

  /// With something to spare: figures go up and down by a point.
  [[nodiscard]] bool safely_reached_by(double figure) const noexcept {
    return is_text() ? figure <= 0.99 * threshold() : figure >= threshold() + 0.01;
  }
};

}  // namespace waggle::app::demo
