// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/train/config.hpp"
#include "core/train/safetensors.hpp"

namespace at {
class Tensor;
}

namespace waggle::train::detail {

/// How a tensor's values begin.
struct Initial {
  enum class Kind : std::uint8_t { constant, normal, uniform };
  Kind kind = Kind::constant;
  double scale = 0;  ///< the constant; the deviation; the bound
};

struct Declared {
  TensorSpec spec;
  Initial initial;
};

/// An architecture: what tensors it has, in which order, and what it does with them. It holds no
/// values; `parameters` and `extras` of forward() are in the order declared.
class Net {
 public:
  virtual ~Net() = default;

  [[nodiscard]] std::vector<Declared> const& parameters() const noexcept { return parameters_; }

  [[nodiscard]] std::vector<Declared> const& extras() const noexcept { return extras_; }

  /// How many of the parameters decay; they come first.
  [[nodiscard]] std::size_t decaying() const noexcept { return decaying_; }

  /// True: the rest is a param_group of its own, without decay.
  [[nodiscard]] bool two_groups() const noexcept { return two_groups_; }

  /// Multiplications and additions of one sample's forward pass.
  [[nodiscard]] double forward_flops() const noexcept { return forward_flops_; }

  /// Logits [count, classes], or [count × context, vocabulary]. `training` moves the extras in
  /// place.
  [[nodiscard]] virtual at::Tensor forward(at::Tensor const& input,
                                           std::vector<at::Tensor> const& parameters,
                                           std::vector<at::Tensor> const& extras,
                                           bool training) const = 0;

 protected:
  std::vector<Declared> parameters_;
  std::vector<Declared> extras_;
  std::size_t decaying_ = 0;
  bool two_groups_ = false;
  double forward_flops_ = 0;
};

[[nodiscard]] std::unique_ptr<Net> make_resnet(ModelConfig const& config,
                                               std::int64_t height,
                                               std::int64_t width);
[[nodiscard]] std::unique_ptr<Net> make_gpt(ModelConfig const& config);

}  // namespace waggle::train::detail
