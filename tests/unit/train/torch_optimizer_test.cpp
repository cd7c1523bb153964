// SPDX-License-Identifier: MIT
// Our optimizers against torch's own, step by step.
#include <doctest/doctest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "core/train/optimizer.hpp"
#include "core/train/random.hpp"

namespace waggle::train {
namespace {

constexpr std::int64_t kValues = 1003;  // not a multiple of any vector's width

std::vector<float> noise(std::uint64_t seed, double scale) {
  Random random(seed);
  std::vector<float> out(kValues);
  for (auto& x : out) x = static_cast<float>(scale * random.normal());
  return out;
}

/// The largest difference after some steps, in units of the value's own size.
template <class Torch>
double difference(TrainConfig const& config, Torch&& make) {
  auto ours = noise(1, 1);
  Optimizer const optimizer(config, {{0, kValues, config.weight_decay}});
  std::vector<float> statistics(optimizer.statistics().size() * kValues);
  auto theirs = torch::tensor(ours).requires_grad_(true);
  auto torch_optimizer = make(std::vector<torch::Tensor>{theirs});
  double worst = 0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    auto const gradient = noise(100 + step, 0.3);
    optimizer.step(ours, gradient, statistics, config.learning_rate, 1, step);
    theirs.mutable_grad() = torch::tensor(gradient);
    torch_optimizer->step();
    auto const* p = theirs.template data_ptr<float>();
    for (std::size_t i = 0; i < kValues; ++i)
      worst = std::max(worst,
                       std::abs(static_cast<double>(ours[i]) - p[i]) / (std::abs(ours[i]) + 1e-2));
  }
  return worst;
}

TEST_CASE("SGD, equals torch::optim::SGD bit for bit") {
  for (double const momentum : {0.0, 0.9})
    for (double const decay : {0.0, 5e-4})
      for (bool const nesterov : {false, true}) {
        if (nesterov && momentum == 0) continue;
        TrainConfig config;
        config.learning_rate = 0.05;
        config.momentum = momentum;
        config.nesterov = nesterov;
        config.weight_decay = decay;
        CHECK(difference(config, [&](std::vector<torch::Tensor> parameters) {
                return std::make_unique<torch::optim::SGD>(
                    std::move(parameters),
                    torch::optim::SGDOptions(0.05).momentum(momentum).weight_decay(decay).nesterov(
                        nesterov));
              }) == 0);
      }
}

TEST_CASE("AdamW, equals torch::optim::AdamW to a few units in the last place") {
  for (double const decay : {0.0, 0.1}) {
    TrainConfig config;
    config.optimizer = "adamw";
    config.learning_rate = 3e-3;
    config.weight_decay = decay;
    CHECK(difference(config, [&](std::vector<torch::Tensor> parameters) {
            return std::make_unique<torch::optim::AdamW>(
                std::move(parameters), torch::optim::AdamWOptions(3e-3).weight_decay(decay));
          }) < 2e-6);
  }
}

}  // namespace
}  // namespace waggle::train
