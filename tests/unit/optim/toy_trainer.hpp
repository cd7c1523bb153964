// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/base/text.hpp"
#include "core/optim/local_trainer.hpp"

namespace waggle::test {

/// A model so small that a test can check every step by hand: mean squared distance of `w` to the
/// samples (quadratic), or logistic regression. SGD with momentum; state = parameters, momentum.
struct ToyModel {
  std::size_t parameters = 2;
  /// Adds the gradient of one sample to `out` and returns its loss.
  std::function<double(std::span<float const> w, std::uint64_t sample, std::span<float> out)>
      add_gradient;
  std::vector<float> initial;
  std::vector<std::size_t> tensors;  ///< sizes, in order; empty: one tensor
  std::vector<std::uint64_t> test_samples;
  float learning_rate = 0.1F;
  float momentum = 0;

  [[nodiscard]] double test_loss(std::span<float const> w) const {
    std::vector<float> ignored(w.size());
    double sum = 0;
    for (auto const s : test_samples) sum += add_gradient(w, s, ignored);
    return sum / static_cast<double>(test_samples.size());
  }
};

/// A sample's number decides its values, so that every peer and the reference see the same.
inline double noise(std::uint64_t sample, std::uint64_t salt) {
  std::uint64_t x = sample * 0x9E3779B97F4A7C15ULL + salt * 0xD1B54A32D192ED03ULL;
  x ^= x >> 31U;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 29U;
  return static_cast<double>(x >> 11U) / static_cast<double>(1ULL << 53U) * 2 - 1;
}

inline ToyModel quadratic() {
  ToyModel m;
  m.initial = {5.0F, -7.0F};
  m.add_gradient = [](std::span<float const> w, std::uint64_t sample, std::span<float> out) {
    double loss = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      double const x = (i == 0 ? 1.0 : 2.0) + noise(sample, i);
      out[i] += static_cast<float>(w[i] - x);
      loss += 0.5 * (w[i] - x) * (w[i] - x);
    }
    return loss;
  };
  for (std::uint64_t i = 0; i < 64; ++i) m.test_samples.push_back(1'000'000 + i);
  return m;
}

/// The quadratic with `tensors` tensors of `numel` values, so that every peer reduces some.
inline ToyModel wide(std::size_t tensors, std::size_t numel) {
  auto m = quadratic();
  m.tensors.assign(tensors, numel);
  m.parameters = tensors * numel;
  m.initial.resize(m.parameters);
  for (std::size_t i = 0; i < m.parameters; ++i)
    m.initial[i] = static_cast<float>(5 * noise(i, 1234));
  m.momentum = 0.5F;
  m.test_samples.resize(16);
  return m;
}

inline ToyModel logistic() {
  ToyModel m;
  m.parameters = 9;
  m.initial.assign(9, 0.0F);
  m.learning_rate = 0.5F;
  m.momentum = 0.9F;
  m.add_gradient = [](std::span<float const> w, std::uint64_t sample, std::span<float> out) {
    double z = w[8];
    double truth = 0.3;
    for (std::size_t i = 0; i < 8; ++i) {
      z += w[i] * noise(sample, i);
      truth += (i % 2 == 0 ? 2.0 : -1.0) * noise(sample, i);
    }
    double const y = truth + 0.3 * noise(sample, 99) > 0 ? 1 : 0;
    double const p = 1 / (1 + std::exp(-z));
    for (std::size_t i = 0; i < 8; ++i) out[i] += static_cast<float>((p - y) * noise(sample, i));
    out[8] += static_cast<float>(p - y);
    double const q = y > 0.5 ? p : 1 - p;
    return -std::log(std::max(q, 1e-12));
  };
  for (std::uint64_t i = 0; i < 512; ++i) m.test_samples.push_back(1'000'000 + i);
  return m;
}

class ToyTrainer final : public optim::LocalTrainer {
 public:
  ToyTrainer(Runtime& runtime, ToyModel model, std::uint64_t first_sample)
      : runtime_(runtime),
        model_(std::move(model)),
        next_sample(first_sample),
        w(model_.initial),
        velocity(model_.parameters),
        sum_(model_.parameters) {
    auto const n = static_cast<std::int64_t>(model_.parameters);
    facts_.parameters = {{{n}, false}};
    if (!model_.tensors.empty()) {
      facts_.parameters.clear();
      for (auto const numel : model_.tensors)
        facts_.parameters.push_back({{static_cast<std::int64_t>(numel)}, false});
    }
    facts_.state_averaging = facts_.parameters;
    for (auto const& tensor : facts_.parameters) facts_.state_averaging.push_back(tensor);
    facts_.download = facts_.state_averaging;
    facts_.training_flops_per_sample = 1;
  }

  [[nodiscard]] optim::ModelFacts const& facts() const noexcept override { return facts_; }

  [[nodiscard]] Co<Result<optim::BatchResult>> accumulate(TimePoint) override {
    auto const slept = co_await runtime_.sleep_for(batch_time);
    if (!slept) co_return slept.error();
    if (die_at_batch > 0 && ++batches >= die_at_batch) {
      die_at_batch = 0;
      used_now.clear();
      std::fill(sum_.begin(), sum_.end(), 0.0F);
      co_return Error{Errc::closed, "killed"};
    }
    if (deaths > 0) {
      --deaths;
      co_return Error{Errc::closed, cat("killed, ", deaths, " to come")};
    }
    optim::BatchResult result;
    result.took = batch_time;
    if (nan_batches > 0) {
      --nan_batches;
      result.finite = false;
      co_return result;
    }
    for (std::uint64_t i = 0; i < batch_size; ++i) {
      result.loss_sum += model_.add_gradient(w, next_sample, sum_);
      used_now.push_back(next_sample++);
    }
    if (poison_gradient) sum_[0] = std::nanf("");
    result.samples = batch_size;
    co_return result;
  }

  [[nodiscard]] std::span<float> gradients() noexcept override { return sum_; }

  void clear_gradients() noexcept override {
    std::fill(sum_.begin(), sum_.end(), 0.0F);
    used_now.clear();
  }

  [[nodiscard]] Co<Result<optim::StepResult>> apply(std::int64_t epoch, TimePoint) override {
    for (float const g : sum_) applied_nonfinite = applied_nonfinite || !std::isfinite(g);
    bool zeros = true;
    for (float const g : sum_) zeros = zeros && g == 0;
    applied_zeros = applied_zeros || zeros;
    for (std::size_t i = 0; i < w.size(); ++i) {
      velocity[i] = model_.momentum * velocity[i] + sum_[i];
      w[i] -= model_.learning_rate * velocity[i];
    }
    used[epoch] = used_now;
    used_now.clear();
    ++steps;
    co_return optim::StepResult{model_.learning_rate, 0};
  }

  [[nodiscard]] Co<Result<std::vector<float>>> state_for_averaging(TimePoint) override {
    co_return all();
  }

  [[nodiscard]] Co<Status> load_averaged_state(std::span<float const> values, TimePoint) override {
    take(values);
    ++states_averaged;
    co_return ok();
  }

  [[nodiscard]] Co<Result<std::shared_ptr<averaging::StateSnapshot const>>> snapshot(
      std::int64_t epoch, TimePoint) override {
    auto s = std::make_shared<averaging::StateSnapshot>();
    s->epoch = epoch;
    s->schema = facts_.download;
    s->values = all();
    if (serve) serve(*s);
    co_return std::shared_ptr<averaging::StateSnapshot const>(std::move(s));
  }

  [[nodiscard]] Co<Status> restore(averaging::StateSnapshot const& state, TimePoint) override {
    take(state.values);
    ++restores;
    restored_epoch = state.epoch;
    co_return ok();
  }

  [[nodiscard]] Co<Result<double>> probe(averaging::StateSnapshot const& candidate,
                                         TimePoint) override {
    co_return model_.test_loss(std::span(candidate.values).first(w.size()));
  }

  [[nodiscard]] double test_loss() const { return model_.test_loss(w); }

 private:
  [[nodiscard]] std::vector<float> all() const {
    auto values = w;
    values.insert(values.end(), velocity.begin(), velocity.end());
    return values;
  }

  void take(std::span<float const> values) {
    std::copy_n(values.begin(), w.size(), w.begin());
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(w.size()), w.size(), velocity.begin());
  }

  Runtime& runtime_;
  ToyModel model_;
  optim::ModelFacts facts_;

 public:
  Duration batch_time = std::chrono::milliseconds(40);
  std::uint64_t batch_size = 8;
  std::uint64_t next_sample;
  std::vector<float> w;
  std::vector<float> velocity;
  std::vector<std::uint64_t> used_now;
  std::map<std::int64_t, std::vector<std::uint64_t>>
      used;  ///< samples in each epoch's own gradient
  std::uint64_t steps = 0;
  int restores = 0;
  int states_averaged = 0;
  std::int64_t restored_epoch = -1;
  int batches = 0;
  int die_at_batch = 0;
  int deaths = 0;  ///< so many batches in a row are its death
  int nan_batches = 0;
  bool poison_gradient = false;
  bool applied_nonfinite = false;
  bool applied_zeros = false;
  std::function<void(averaging::StateSnapshot&)> serve;  ///< lies about what donors give

 private:
  std::vector<float> sum_;
};

}  // namespace waggle::test
