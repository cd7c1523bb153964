// SPDX-License-Identifier: MIT
#include "core/train/optimizer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/assert.hpp"

// Compiled with -ffp-contract=off: every fma below is one that torch makes, and no other.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define WAGGLE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WAGGLE_CLONES
#endif

namespace waggle::train {
namespace {

// torch: d = g + wd·p; buf = m·buf + d; d = nesterov ? d + m·buf : buf; p = p − lr·d,
// where its vector kernel of add(a, b, α) is fma(b, α, a).
WAGGLE_CLONES void sgd(float* __restrict p,
                       float const* __restrict g,
                       float* __restrict buf,
                       std::size_t n,
                       float rate,
                       float momentum,
                       float decay,
                       bool nesterov,
                       float scale) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    float const d = std::fma(p[i], decay, g[i] * scale);
    float const b = buf[i] * momentum + d;
    buf[i] = b;
    p[i] = std::fma(nesterov ? std::fma(b, momentum, d) : b, -rate, p[i]);
  }
}

WAGGLE_CLONES void plain_sgd(float* __restrict p,
                             float const* __restrict g,
                             std::size_t n,
                             float rate,
                             float decay,
                             float scale) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    p[i] = std::fma(std::fma(p[i], decay, g[i] * scale), -rate, p[i]);
}

struct AdamWScalars {
  float decay;  ///< 1 − lr·wd
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float correction2;  ///< √(1 − β2^t)
  float epsilon;
  float step_size;  ///< lr / (1 − β1^t)
  float scale;
};

WAGGLE_CLONES void adamw(float* __restrict p,
                         float const* __restrict g,
                         float* __restrict m,
                         float* __restrict v,
                         std::size_t n,
                         AdamWScalars const s) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    float const d = g[i] * s.scale;
    m[i] = std::fma(d, s.one_minus_beta1, m[i] * s.beta1);
    v[i] = std::fma(s.one_minus_beta2 * d, d, v[i] * s.beta2);
    float const denominator = std::sqrt(v[i]) / s.correction2 + s.epsilon;
    p[i] = p[i] * s.decay - s.step_size * m[i] / denominator;
  }
}

WAGGLE_CLONES double sum_of_squares(float const* values, std::size_t n) noexcept {
  // Eight running sums: vectorizable without reassociating what a reader sees.
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) {
      double const x = values[i + k];
      sums[k] += x * x;
    }
  for (; i < n; ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  double total = 0;
  for (double const s : sums) total += s;
  return total;
}

WAGGLE_CLONES std::uint32_t largest_exponent(float const* values, std::size_t n) noexcept {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & 0x7f800000u);
  return largest;
}

}  // namespace

Optimizer::Optimizer(TrainConfig config, std::vector<ParameterGroup> groups)
    : config_(std::move(config)), groups_(std::move(groups)), adamw_(config_.optimizer == "adamw") {
}

std::vector<std::string> Optimizer::statistics() const {
  if (adamw_) return {"exp_avg", "exp_avg_sq"};
  if (config_.momentum != 0) return {"momentum_buffer"};
  return {};
}

void Optimizer::step(std::span<float> parameters,
                     std::span<float const> gradients,
                     std::span<float> statistics,
                     double rate,
                     float scale,
                     std::uint64_t steps) const noexcept {
  auto const n = parameters.size();
  WAGGLE_ASSERT(gradients.size() == n, gradients.size(), " gradients, ", n, " parameters");
  WAGGLE_ASSERT(statistics.size() >= n * this->statistics().size(), statistics.size());
  auto const lr = static_cast<float>(rate);
  for (auto const& group : groups_) {
    WAGGLE_ASSERT(group.begin <= group.end && group.end <= n, group.begin, " ", group.end, " ", n);
    auto* const p = parameters.data() + group.begin;
    auto const* const g = gradients.data() + group.begin;
    auto const size = group.end - group.begin;
    auto const decay = static_cast<float>(group.weight_decay);
    if (adamw_) {
      auto const t = static_cast<double>(steps + 1);
      AdamWScalars const scalars{
          .decay = static_cast<float>(1 - rate * group.weight_decay),
          .beta1 = static_cast<float>(config_.beta1),
          .one_minus_beta1 = static_cast<float>(1 - config_.beta1),
          .beta2 = static_cast<float>(config_.beta2),
          .one_minus_beta2 = static_cast<float>(1 - config_.beta2),
          .correction2 = static_cast<float>(std::sqrt(1 - std::pow(config_.beta2, t))),
          .epsilon = static_cast<float>(config_.epsilon),
          .step_size = static_cast<float>(rate / (1 - std::pow(config_.beta1, t))),
          .scale = scale};
      adamw(p,
            g,
            statistics.data() + group.begin,
            statistics.data() + n + group.begin,
            size,
            scalars);
    } else if (config_.momentum != 0) {
      sgd(p,
          g,
          statistics.data() + group.begin,
          size,
          lr,
          static_cast<float>(config_.momentum),
          decay,
          config_.nesterov,
          scale);
    } else {
      plain_sgd(p, g, size, lr, decay, scale);
    }
  }
}

double norm(std::span<float const> values) noexcept {
  return std::sqrt(sum_of_squares(values.data(), values.size()));
}

bool all_finite(std::span<float const> values) noexcept {
  return largest_exponent(values.data(), values.size()) != 0x7f800000u;
}

float clip_scale(double norm, double limit) noexcept {
  if (limit <= 0) return 1;
  return static_cast<float>(std::min(1.0, limit / (norm + 1e-6)));
}

}  // namespace waggle::train
