// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/train/config.hpp"

namespace waggle::train {

/// A run of the flat buffers with its own weight decay: PyTorch's param_group.
struct ParameterGroup {
  std::size_t begin = 0;
  std::size_t end = 0;
  double weight_decay = 0;
};

/// SGD (momentum, Nesterov, weight decay) and AdamW as single passes over flat float32 buffers,
/// rounding where PyTorch 1.13 rounds: SGD equals torch::optim::SGD bit for bit on a machine with
/// FMA, AdamW within a few units in the last place (tests/unit/train/engine_test.cpp).
/// No state of its own: the statistics live in the caller's buffer.
class Optimizer {
 public:
  Optimizer(TrainConfig config, std::vector<ParameterGroup> groups);

  /// "momentum_buffer"; "exp_avg", "exp_avg_sq"; or nothing. The statistics buffer holds them one
  /// after another, each for all parameters.
  [[nodiscard]] std::vector<std::string> statistics() const;

  /// AdamW counts its steps, which PyTorch keeps as a scalar tensor a parameter.
  [[nodiscard]] bool step_tensors() const noexcept { return adamw_; }

  /// One step at `rate`, gradients multiplied by `scale` on the fly.
  /// Shapes: parameters [n], gradients [n], statistics [n × statistics().size()].
  /// `steps`: steps made before this one. Cost: one pass over everything.
  void step(std::span<float> parameters,
            std::span<float const> gradients,
            std::span<float> statistics,
            double rate,
            float scale,
            std::uint64_t steps) const noexcept;

  [[nodiscard]] std::vector<ParameterGroup> const& groups() const noexcept { return groups_; }

 private:
  TrainConfig config_;
  std::vector<ParameterGroup> groups_;
  bool adamw_;
};

/// The Euclidean norm, summed in double. Not finite if a value is not.
[[nodiscard]] double norm(std::span<float const> values) noexcept;
/// Whether every value is finite. One pass.
[[nodiscard]] bool all_finite(std::span<float const> values) noexcept;
/// torch's clip_grad_norm_: what to multiply gradients of norm `norm` by; 1 if `limit` is 0.
[[nodiscard]] float clip_scale(double norm, double limit) noexcept;

}  // namespace waggle::train
