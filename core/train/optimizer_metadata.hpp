// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/train/config.hpp"
#include "core/train/optimizer.hpp"

namespace waggle::train {

/// One leaf of a flattened optimizer.state_dict(): a plain value, or the index of a tensor.
struct MetadataLeaf {
  struct Tensor {
    std::int64_t index;
    friend bool operator==(Tensor, Tensor) = default;
  };

  /// monostate is Python's None.
  std::variant<std::monostate, bool, std::int64_t, double, Tensor> value;
  friend bool operator==(MetadataLeaf const&, MetadataLeaf const&) = default;
};

/// hivemind's `optimizer_metadata` as PyTorch 1.13 would flatten it, keys in alphabetical order:
/// each group's settings (with `initial_lr` if a scheduler is attached) and parameter indices, then
/// each parameter's tensors. The receiver matches by position only.
/// `parameters_per_group`: how many tensors each of the groups has; decays: its weight decay.
/// Source: spec/hivemind-averaging.md section 5; vectors averaging.json optimizer_state_dump.
[[nodiscard]] std::vector<MetadataLeaf> optimizer_metadata(
    TrainConfig const& config,
    std::span<std::size_t const> parameters_per_group,
    std::span<double const> decays,
    double learning_rate,
    bool scheduler_attached);

}  // namespace waggle::train
