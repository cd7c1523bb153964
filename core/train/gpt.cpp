// SPDX-License-Identifier: MIT
// A decoder-only transformer with the names and shapes of Hugging Face's GPT-2 (Radford et al.
// 2019): Conv1D weights lie [in, out], the head is the token embedding, counted once. Parameters
// come as [decaying, not decaying], each in registration order: matrices decay, biases and norms do
// not.
#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/triu.h>

#include "core/base/text.hpp"
#include "core/train/detail/net.hpp"

namespace waggle::train::detail {
namespace {

constexpr double kDeviation = 0.02;
constexpr double kEpsilon = 1e-5;

class Gpt final : public Net {
 public:
  explicit Gpt(ModelConfig const& config)
      : layers_(config.layers),
        heads_(config.heads),
        width_(config.embedding),
        vocabulary_(config.vocabulary),
        dropout_(config.dropout) {
    std::vector<Declared> still;  // biases and norms
    auto const d = config.embedding;
    auto const normal = [](double deviation) { return Initial{Initial::Kind::normal, deviation}; };
    auto const weight = [&](std::string name, std::int64_t in, std::int64_t out, double deviation) {
      parameters_.push_back({{name + ".weight", {in, out}}, normal(deviation)});
      still.push_back({{name + ".bias", {out}}, {Initial::Kind::constant, 0}});
      forward_flops_ += 2.0 * static_cast<double>(in * out * config.context);
    };
    auto const norm = [&](std::string const& name) {
      still.push_back({{name + ".weight", {d}}, {Initial::Kind::constant, 1}});
      still.push_back({{name + ".bias", {d}}, {Initial::Kind::constant, 0}});
    };
    parameters_.push_back({{"transformer.wte.weight", {config.vocabulary, d}}, normal(kDeviation)});
    parameters_.push_back({{"transformer.wpe.weight", {config.context, d}}, normal(kDeviation)});
    // GPT-2 scales what is added to the residual stream by the number of additions.
    auto const residual = kDeviation / std::sqrt(2.0 * static_cast<double>(config.layers));
    for (std::int64_t i = 0; i < config.layers; ++i) {
      auto const h = cat("transformer.h.", i);
      norm(h + ".ln_1");
      weight(h + ".attn.c_attn", d, 3 * d, kDeviation);
      weight(h + ".attn.c_proj", d, d, residual);
      norm(h + ".ln_2");
      weight(h + ".mlp.c_fc", d, 4 * d, kDeviation);
      weight(h + ".mlp.c_proj", 4 * d, d, residual);
      forward_flops_ += 4.0 * static_cast<double>(config.context * config.context * d);
    }
    norm("transformer.ln_f");
    forward_flops_ += 2.0 * static_cast<double>(d * config.vocabulary * config.context);
    decaying_ = parameters_.size();
    two_groups_ = true;
    parameters_.insert(parameters_.end(), still.begin(), still.end());
  }

  at::Tensor forward(at::Tensor const& tokens,
                     std::vector<at::Tensor> const& parameters,
                     std::vector<at::Tensor> const& /*extras*/,
                     bool training) const override {
    auto const* matrix = parameters.data();
    auto const* vector = parameters.data() + decaying_;
    auto const& embedding = *matrix++;
    auto const& places = *matrix++;
    auto const batch = tokens.size(0);
    auto const length = tokens.size(1);
    auto const norm = [&](at::Tensor const& x) {
      vector += 2;
      return at::layer_norm(x, {width_}, vector[-2], vector[-1], kEpsilon);
    };
    auto const linear = [&](at::Tensor const& x) {
      auto const flat = x.reshape({-1, x.size(-1)});
      auto const& w = *matrix++;
      return at::addmm(*vector++, flat, w).view({batch, length, w.size(1)});
    };
    auto const drop = [&](at::Tensor const& x) {
      return dropout_ > 0 && training ? at::dropout(x, dropout_, true) : x;
    };
    auto const mask = at::triu(at::full({length, length},
                                        -std::numeric_limits<float>::infinity(),
                                        embedding.options().requires_grad(false)),
                               1);
    auto x = drop(at::embedding(embedding, tokens) + places.slice(0, 0, length));
    for (std::int64_t i = 0; i < layers_; ++i) {
      auto const qkv = linear(norm(x))
                           .view({batch, length, 3, heads_, width_ / heads_})
                           .permute({2, 0, 3, 1, 4});
      auto const scale = 1 / std::sqrt(static_cast<double>(width_ / heads_));
      auto scores = at::matmul(qkv[0] * scale, qkv[1].transpose(-2, -1)) + mask;
      auto const attended = at::matmul(drop(at::softmax(scores, -1)), qkv[2]);
      x = x + drop(linear(attended.transpose(1, 2).reshape({batch, length, width_})));
      x = x + drop(linear(at::gelu(linear(norm(x)), "tanh")));
    }
    return at::matmul(norm(x).view({batch * length, width_}), embedding.t());
  }

 private:
  std::int64_t layers_, heads_, width_, vocabulary_;
  double dropout_;
};

}  // namespace

std::unique_ptr<Net> make_gpt(ModelConfig const& config) {
  return std::make_unique<Gpt>(config);
}

}  // namespace waggle::train::detail
