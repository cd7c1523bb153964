// SPDX-License-Identifier: MIT
#include "core/train/optimizer_metadata.hpp"

namespace waggle::train {
namespace {

using Leaf = MetadataLeaf;

// Python's defaults are the integer 0, and msgpack tells 0 from 0.0.
Leaf number(double value) {
  if (value == 0) return {std::int64_t{0}};
  return {value};
}

Leaf none() {
  return {std::monostate{}};
}

}  // namespace

std::vector<MetadataLeaf> optimizer_metadata(TrainConfig const& config,
                                             std::span<std::size_t const> parameters_per_group,
                                             std::span<double const> decays,
                                             double rate,
                                             bool scheduler_attached) {
  std::vector<Leaf> out;
  bool const adamw = config.optimizer == "adamw";
  std::int64_t parameter = 0;
  for (std::size_t group = 0; group < parameters_per_group.size(); ++group) {
    if (adamw) {
      out.push_back({false});         // amsgrad
      out.push_back({config.beta1});  // betas
      out.push_back({config.beta2});
      out.push_back({false});           // capturable
      out.push_back({config.epsilon});  // eps
      out.push_back(none());            // foreach
    } else {
      out.push_back({std::int64_t{0}});  // dampening
      out.push_back({false});            // differentiable
      out.push_back(none());             // foreach
    }
    if (scheduler_attached) out.push_back({config.learning_rate});  // initial_lr
    out.push_back({rate});                                          // lr
    out.push_back({false});                                         // maximize
    if (!adamw) {
      out.push_back(number(config.momentum));
      out.push_back({config.nesterov});
    }
    for (std::size_t i = 0; i < parameters_per_group[group]; ++i) out.push_back({parameter++});
    out.push_back(number(decays[group]));  // weight_decay
  }
  std::int64_t tensor = 0;
  for (std::int64_t i = 0; i < parameter; ++i) {
    if (adamw)
      for (int k = 0; k < 3; ++k)
        out.push_back({Leaf::Tensor{tensor++}});  // exp_avg, exp_avg_sq, step
    else if (config.momentum != 0)
      out.push_back({Leaf::Tensor{tensor++}});  // momentum_buffer
    else
      out.push_back(none());
  }
  return out;
}

}  // namespace waggle::train
