// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/averaging/schema.hpp"
#include "core/averaging/state_sharing.hpp"
#include "core/base/runtime.hpp"

namespace waggle::optim {

/// What one micro-batch brought.
struct BatchResult {
  std::uint64_t samples = 0;
  double loss_sum = 0;  ///< sum over samples, nats
  bool finite = true;   ///< false: the loss or a gradient was not; nothing was accumulated
  Duration took{};
};

/// What `apply` did.
struct StepResult {
  double learning_rate = 0;
  double gradient_norm = 0;
};

/// Shapes and sizes of a model, fixed for a task.
struct ModelFacts {
  averaging::Schema parameters;       ///< registration order; gradient averaging
  averaging::Schema state_averaging;  ///< parameters, statistics, extras: DESIGN.md section 5
  averaging::Schema download;         ///< parameters, extras, optimizer tensors
  double training_flops_per_sample = 0;
};

/// What the collaborative optimizer needs of whoever computes: the trainer process behind
/// core/worker, or a model of two floats in a test. One call at a time. Every call may fail with
/// closed (the trainer died; it is restarted from the last committed state, and the failed call's
/// effects are gone) or cancelled.
class LocalTrainer {
 public:
  virtual ~LocalTrainer() = default;
  [[nodiscard]] virtual ModelFacts const& facts() const noexcept = 0;

  /// Runs forward and backward on the next micro-batch and adds Σ over its samples of the gradient
  /// (a SUM, so that unequal batches weigh right) into the gradient buffer.
  [[nodiscard]] virtual Co<Result<BatchResult>> accumulate(TimePoint deadline) = 0;

  /// The flat gradient buffer, in facts().parameters' order: the sum since it was last cleared.
  /// Valid between calls only.
  [[nodiscard]] virtual std::span<float> gradients() noexcept = 0;
  virtual void clear_gradients() noexcept = 0;

  /// One optimizer step with the mean gradient that now stands in gradients(), at the schedule's
  /// place for `epoch`.
  [[nodiscard]] virtual Co<Result<StepResult>> apply(std::int64_t epoch, TimePoint deadline) = 0;

  /// Copies the averaged state out of and into the trainer, in facts().state_averaging's order.
  [[nodiscard]] virtual Co<Result<std::vector<float>>> state_for_averaging(TimePoint deadline) = 0;
  [[nodiscard]] virtual Co<Status> load_averaged_state(std::span<float const> values,
                                                       TimePoint deadline) = 0;

  /// The whole state at `epoch`, for donors and checkpoints; and the way back.
  [[nodiscard]] virtual Co<Result<std::shared_ptr<averaging::StateSnapshot const>>> snapshot(
      std::int64_t epoch, TimePoint deadline) = 0;
  [[nodiscard]] virtual Co<Status> restore(averaging::StateSnapshot const& state,
                                           TimePoint deadline) = 0;

  /// Mean loss of a candidate state on the fixed test samples (512 at most), without touching the
  /// current one.
  [[nodiscard]] virtual Co<Result<double>> probe(averaging::StateSnapshot const& candidate,
                                                 TimePoint deadline) = 0;
};

}  // namespace waggle::optim
