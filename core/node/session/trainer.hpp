// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/node/examples.hpp"
#include "core/node/services.hpp"
#include "core/optim/local_trainer.hpp"
#include "core/task/definition.hpp"

namespace waggle::node {

/// What the model does on data it does not train on.
struct Evaluation {
  std::uint64_t samples = 0;
  double loss = 0;                 ///< mean, nats a sample (a byte for text)
  std::optional<double> accuracy;  ///< classification only
};

struct TrainerOptions {
  std::map<std::string, std::filesystem::path> files;  ///< the task's data by name
  std::size_t threads = 1;
  std::uint64_t memory_limit = 0;      ///< of its tensors, in bytes; 0: none
  std::uint64_t gpu_memory_limit = 0;  ///< of those on a GPU
  std::uint64_t seed = 0;              ///< of this peer's own shuffled stream and augmentation
};

/// A waggle-trainer process behind the interface that the optimizer declares, and what the node
/// needs besides: evaluation and safetensors in and out through descriptors that the node opens.
/// Thread: the network thread; one call at a time.
class Trainer : public optim::LocalTrainer {
 public:
  /// Starts the process and waits until it has built the model and read the data.
  /// Errors: io, closed (it died: its last words), invalid (the task does not fit), timeout,
  /// cancelled.
  [[nodiscard]] static Co<Result<std::unique_ptr<Trainer>>> start(
      Services& services,
      task::Definition const& definition,
      TrainerOptions options,
      TimePoint deadline);
  [[nodiscard]] virtual Co<void> close() = 0;

  /// On the whole test set, or on its fixed first samples (512 at most), which takes a fraction of
  /// the time.
  [[nodiscard]] virtual Co<Result<Evaluation>> evaluate(bool whole, TimePoint deadline) = 0;
  /// A few held-out samples, always the same ones, and what the model makes of them. Never longer
  /// than Examples allows; what does not make sense is left out.
  [[nodiscard]] virtual Co<Result<std::vector<Example>>> examples(TimePoint deadline) = 0;
  /// Parameters and running statistics as safetensors: temporary file, fsync, rename.
  [[nodiscard]] virtual Co<Status> write_weights(std::filesystem::path path,
                                                 TimePoint deadline) = 0;
  [[nodiscard]] virtual Co<Status> read_weights(std::filesystem::path path, TimePoint deadline) = 0;
  [[nodiscard]] virtual std::uint64_t parameter_count() const noexcept = 0;
  /// Whether it works on a GPU, now: one may be lost, and come back.
  [[nodiscard]] virtual bool on_gpu() const noexcept = 0;
  /// Where that is on the PCI bus, as device::find_gpu() takes it; empty: not known.
  [[nodiscard]] virtual std::string gpu() const = 0;
  /// Processor time that its processes have used so far.
  [[nodiscard]] virtual Duration cpu_time() const noexcept = 0;
  /// Share of the trainer's threads that training may take, by gaps between micro-batches; (0, 1].
  virtual void set_duty(double share) noexcept = 0;
  /// The share of the time in which the GPU may compute, in the same way.
  virtual void set_gpu_duty(double share) noexcept = 0;
  /// As worker::TrainerProcess.
  virtual void end_rest() noexcept = 0;
  /// From the next micro-batch on.
  virtual void set_threads(std::size_t threads) noexcept = 0;
  /// From the next call on, which starts the process again: a second or two.
  virtual void set_memory_limit(std::uint64_t bytes) noexcept = 0;
  virtual void set_gpu_memory_limit(std::uint64_t bytes) noexcept = 0;
};

}  // namespace waggle::node
