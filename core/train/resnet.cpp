// SPDX-License-Identifier: MIT
// Residual networks (He, Zhang, Ren, Sun 2015) with torchvision's names and initial values where it
// has the net: depth 18, 34, 50. Depth 8 is three stages of one basic block, depth 10 four.
#include <array>
#include <cmath>

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/flatten.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "core/base/text.hpp"
#include "core/train/detail/net.hpp"

namespace waggle::train::detail {
namespace {

struct Convolution {
  std::int64_t stride;
  std::int64_t padding;
};

struct Block {
  std::vector<Convolution> path;  ///< each followed by a BatchNorm
  bool downsamples = false;
  std::int64_t stride = 1;
};

/// Takes parameters and extras one by one, in the order in which they were declared.
struct Cursor {
  at::Tensor const* parameter;
  at::Tensor const* extra;
  bool training;

  at::Tensor convolve(at::Tensor const& x, Convolution c) {
    return at::conv2d(x, *parameter++, {}, {c.stride, c.stride}, {c.padding, c.padding});
  }

  at::Tensor normalise(at::Tensor const& x) {
    auto const* const p = parameter;
    auto const* const e = extra;
    parameter += 2;
    extra += 2;
    return at::batch_norm(x, p[0], p[1], e[0], e[1], training, 0.1, 1e-5, true);
  }
};

class ResNet final : public Net {
 public:
  ResNet(ModelConfig const& config, std::int64_t height, std::int64_t width)
      : height_(height), width_(width) {
    bool const imagenet = config.stem == "imagenet";
    imagenet_ = imagenet;
    stem_ = imagenet ? Convolution{2, 3}
                     : Convolution{config.stem == "cifar-s2" ? std::int64_t{2} : 1, 1};
    std::int64_t channels = config.width;
    declare_convolution("conv1", config.in_channels, channels, imagenet ? 7 : 3, stem_);
    declare_norm("bn1", channels);
    if (imagenet) halve();
    bool const bottleneck = config.depth >= 50;
    auto const blocks = blocks_of(config.depth);
    for (std::size_t stage = 0; stage < blocks.size(); ++stage)
      for (std::int64_t i = 0; i < blocks[stage]; ++i)
        declare_block(cat("layer", stage + 1, ".", i),
                      channels,
                      config.width << stage,
                      stage > 0 && i == 0 ? 2 : 1,
                      bottleneck);
    double const bound = 1 / std::sqrt(static_cast<double>(channels));
    parameters_.push_back(
        {{"fc.weight", {config.classes, channels}}, {Initial::Kind::uniform, bound}});
    parameters_.push_back({{"fc.bias", {config.classes}}, {Initial::Kind::uniform, bound}});
    forward_flops_ += 2.0 * static_cast<double>(config.classes * channels);
    decaying_ = parameters_.size();
  }

  at::Tensor forward(at::Tensor const& input,
                     std::vector<at::Tensor> const& parameters,
                     std::vector<at::Tensor> const& extras,
                     bool training) const override {
    Cursor at{parameters.data(), extras.data(), training};
    auto x = at.normalise(at.convolve(input, stem_)).relu_();
    if (imagenet_) x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
    for (auto const& block : blocks_) {
      auto y = x;
      for (std::size_t i = 0; i < block.path.size(); ++i) {
        y = at.normalise(at.convolve(y, block.path[i]));
        if (i + 1 < block.path.size()) y = y.relu_();
      }
      auto const shortcut = block.downsamples ? at.normalise(at.convolve(x, {block.stride, 0})) : x;
      x = y.add_(shortcut).relu_();
    }
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return at::linear(x, at.parameter[0], at.parameter[1]);
  }

 private:
  static std::vector<std::int64_t> blocks_of(std::int64_t depth) {
    switch (depth) {
      case 8:
        return {1, 1, 1};
      case 10:
        return {1, 1, 1, 1};
      case 18:
        return {2, 2, 2, 2};
      default:
        return {3, 4, 6, 3};  // 34 and 50
    }
  }

  void halve() {
    height_ = (height_ + 1) / 2;
    width_ = (width_ + 1) / 2;
  }

  // torchvision: kaiming_normal_, fan_out, relu.
  void declare_convolution(std::string const& name,
                           std::int64_t in,
                           std::int64_t out,
                           std::int64_t kernel,
                           Convolution c) {
    auto const deviation = std::sqrt(2.0 / static_cast<double>(out * kernel * kernel));
    parameters_.push_back(
        {{name + ".weight", {out, in, kernel, kernel}}, {Initial::Kind::normal, deviation}});
    if (c.stride == 2) halve();
    forward_flops_ += 2.0 * static_cast<double>(out * in * kernel * kernel) *
                      static_cast<double>(height_ * width_);
  }

  void declare_norm(std::string const& name, std::int64_t channels) {
    parameters_.push_back({{name + ".weight", {channels}}, {Initial::Kind::constant, 1}});
    parameters_.push_back({{name + ".bias", {channels}}, {Initial::Kind::constant, 0}});
    extras_.push_back({{name + ".running_mean", {channels}}, {Initial::Kind::constant, 0}});
    extras_.push_back({{name + ".running_var", {channels}}, {Initial::Kind::constant, 1}});
  }

  void declare_block(std::string const& name,
                     std::int64_t& channels,
                     std::int64_t planes,
                     std::int64_t stride,
                     bool bottleneck) {
    Block block;
    block.stride = stride;
    auto const out = bottleneck ? 4 * planes : planes;
    std::int64_t in = channels;
    int number = 1;
    auto const add = [&](std::int64_t to, std::int64_t kernel, std::int64_t s) {
      Convolution const c{s, kernel / 2};
      declare_convolution(cat(name, ".conv", number), in, to, kernel, c);
      declare_norm(cat(name, ".bn", number), to);
      block.path.push_back(c);
      in = to;
      ++number;
    };
    if (bottleneck) {
      add(planes, 1, 1);
      add(planes, 3, stride);
      add(out, 1, 1);
    } else {
      add(planes, 3, stride);
      add(planes, 3, 1);
    }
    if (stride != 1 || channels != out) {
      block.downsamples = true;
      declare_convolution(name + ".downsample.0", channels, out, 1, {1, 0});
      declare_norm(name + ".downsample.1", out);
    }
    channels = out;
    blocks_.push_back(std::move(block));
  }

  std::int64_t height_, width_;  // of the picture where the constructor stands
  bool imagenet_ = false;
  Convolution stem_{1, 1};
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<Net> make_resnet(ModelConfig const& config,
                                 std::int64_t height,
                                 std::int64_t width) {
  return std::make_unique<ResNet>(config, height, width);
}

}  // namespace waggle::train::detail
