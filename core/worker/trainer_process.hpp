// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/fd.hpp"
#include "core/base/runtime.hpp"
#include "core/wire/msgpack.hpp"
#include "core/worker/messages.hpp"

namespace waggle::worker {

/// How much of the machine the trainer may ask for while others want it too.
enum class Priority : std::uint8_t {
  idle,    ///< nice 19, SCHED_IDLE, idle disk class: runs on what nobody else wants
  low,     ///< nice 19
  normal,  ///< as the node itself; for benchmarks
};

struct TrainerOptions {
  /// One JSON text {"model":{…},"data":{…},"train":{…}} whose fields are named as in task.toml
  /// (core/train/config.hpp). Absent fields take their defaults; unknown ones are refused.
  std::string config_json;
  /// The data files in the order in which the task names them. Opened here, passed as descriptors,
  /// so the trainer never opens a path. Both empty: a trainer that cannot train (export, import).
  std::vector<std::filesystem::path> train_files;
  std::vector<std::filesystem::path> test_files;
  /// Chooses this peer's own shuffled stream of samples. The initial weights come from init_seed.
  std::uint64_t seed = 0;
  std::uint64_t init_seed = 0;
  std::uint32_t threads = 1;
  /// What tensors may hold together, 0: no cap. Above it the micro-batch is halved, not the process
  /// killed.
  std::uint64_t memory_limit = 0;
  /// The same for those on a GPU, by a process that works on one.
  std::uint64_t gpu_memory_limit = 0;
  Priority priority = Priority::idle;
  bool sandbox = true;
  /// A process that was asked nothing for so long is ended, and its memory is somebody else's; the
  /// next call starts it again, a second or two. 0: never.
  Duration idle_limit = std::chrono::seconds(60);
  /// Empty: $WAGGLE_TRAINER, else `waggle-trainer` beside the running program.
  std::filesystem::path executable;
};

/// Where the trainer is: $WAGGLE_TRAINER, else the one that was `chosen` (empty: none), else beside
/// /proc/self/exe. Errors: not_found (names what was looked for).
[[nodiscard]] Result<std::filesystem::path> find_trainer(std::filesystem::path const& chosen = {});

struct Batch {
  std::uint64_t samples = 0;
  double loss_sum = 0;  ///< nats (per sample; for text per byte position, averaged over a sample)
  bool finite = true;   ///< false: nothing was accumulated
  Duration took{};
};

/// A GPU whose memory, or so much of it as is allowed, does not hold a model at work; bytes.
struct GpuShortage {
  std::uint64_t limit = 0;  ///< TrainerOptions::gpu_memory_limit; 0: it was the card's own
  /// What the parameters, their gradients and the extras take; a batch comes on top.
  std::uint64_t least = 0;

  friend bool operator==(GpuShortage const&, GpuShortage const&) = default;
};

struct Step {
  double learning_rate = 0;
  double gradient_norm = 0;  ///< before clipping
};

struct Evaluation {
  std::uint64_t samples = 0;
  double loss = 0;  ///< mean, nats per sample (images) or per byte (text); without label smoothing
  double accuracy = 0;  ///< top 1, images; for text the share of right next bytes
};

/// A whole state as donors serve it: parameters, extras, optimizer tensors, flat, in the order of
/// Facts::download().
struct TrainingState {
  std::vector<float> values;
  wire::Msgpack optimizer_metadata;  ///< the list of leaves of PyTorch 1.13's state_dict
};

/// One example of what the model says, for a person to look at.
struct Prediction {
  std::vector<std::uint8_t> pixels;  ///< channels × height × width; empty for text
  std::uint32_t channels = 0, height = 0, width = 0;
  std::int32_t label = -1;
  std::vector<float> probabilities;  ///< one a class
  std::string prompt, text;          ///< text: what was given, what the model wrote on
};

/// The node's end of the trainer: owns the process, the shared buffers and what is needed to
/// survive the process's death. The four buffers are memory of this process too (memfd); the
/// trainer reads and writes them only while a call runs, so between calls the spans are the
/// caller's alone.
///
/// Death: whatever kills the trainer, at any moment, the buffers go back to what they were before
/// the call that ran, the process is started again and the call repeated; from outside the call
/// only took longer. After kMaxAttempts deaths in one call it fails with closed, effects undone.
/// Sample streams are positions in a seeded sequence, so a repeated micro-batch is the same
/// micro-batch. Out of memory: the micro-batch is halved and the call repeated. Deadline: a trainer
/// that has not answered by then is killed (it restarts at the next call), the call fails with
/// timeout, effects undone. The same on cancellation.
///
/// GPU: a process whose trainer was built for one uses it. Where its driver fails, at the start or
/// in the middle of a call, or its memory holds not even a batch of one sample, the work goes on on
/// the processor, with the same buffers; gpu_trouble() says why, and try_gpu() gives it another
/// chance.
///
/// One call at a time (asserted). Thread: the network thread. Source: SEAM.md's rules, restated in
/// core/worker/README.md.
class TrainerProcess {
 public:
  static constexpr int kMaxAttempts = 4;

  /// Starts the process, lets it read the data and initialise the weights (from init_seed, the same
  /// on every peer). A second or two. Errors: not_found, invalid (configuration, with the reason),
  /// malformed (data files), closed, timeout, cancelled.
  [[nodiscard]] static Co<Result<std::unique_ptr<TrainerProcess>>> start(Runtime& runtime,
                                                                         TrainerOptions options,
                                                                         TimePoint deadline);
  /// Kills the process if it still runs.
  ~TrainerProcess();
  TrainerProcess(TrainerProcess const&) = delete;
  TrainerProcess& operator=(TrainerProcess const&) = delete;

  /// `device` and what is said of the GPU are those of the newest process.
  [[nodiscard]] Facts const& facts() const noexcept;

  // The shared buffers, flat, in the order of Facts. Valid between calls.
  [[nodiscard]] std::span<float> parameters() noexcept;
  [[nodiscard]] std::span<float> gradients() noexcept;  ///< SUM over samples since the last clear
  [[nodiscard]] std::span<float> extras() noexcept;
  [[nodiscard]] std::span<float> statistics() noexcept;  ///< each statistic for all parameters
  void clear_gradients() noexcept;

  /// Forward and backward on the next micro-batch of the stream; adds to gradients(), moves extras.
  /// `most`: at most so many samples, 0: the task's micro_batch. Rests first as long as the shares
  /// want it; no samples and nothing done if end_rest() ends that.
  [[nodiscard]] Co<Result<Batch>> accumulate(std::uint32_t most, TimePoint deadline);

  /// One optimizer step on the MEAN gradient standing in gradients(), with the schedule's learning
  /// rate for `epoch`. gradients() keeps its values (clipping is done on the fly).
  [[nodiscard]] Co<Result<Step>> apply(std::int64_t epoch, TimePoint deadline);

  /// The whole test set. Loss and accuracy.
  [[nodiscard]] Co<Result<Evaluation>> evaluate(TimePoint deadline);
  /// The first Facts::probe_samples() test samples, with the current state.
  [[nodiscard]] Co<Result<Evaluation>> evaluate_fixed(TimePoint deadline);
  /// The same with a candidate: `values` begins with parameters and extras in download order (what
  /// follows is ignored). The current state is not touched.
  /// Errors also: invalid (too few values), and a loss that is not finite is given as it is.
  [[nodiscard]] Co<Result<Evaluation>> probe(std::span<float const> values, TimePoint deadline);

  /// What state averaging averages: parameters, statistics, extras (Facts::state_averaging()).
  /// A copy of memory; never suspends, cannot fail.
  [[nodiscard]] std::vector<float> averaged_state() const;
  /// Errors: invalid (wrong count, or not finite: nothing is loaded).
  [[nodiscard]] Status load_averaged_state(std::span<float const> values);

  /// The whole state for donors and checkpoints, with the metadata of `epoch`.
  [[nodiscard]] Co<Result<TrainingState>> snapshot(std::int64_t epoch, TimePoint deadline);
  /// Errors: invalid (wrong count, or not finite: nothing is loaded).
  [[nodiscard]] Status restore(std::span<float const> values);

  /// Writes parameters and extras as safetensors (PyTorch's names; num_batches_tracked left out) to
  /// `target`, which the caller opened for writing and moves into place afterwards.
  /// `metadata`: pairs for the file's __metadata__.
  [[nodiscard]] Co<Status> export_safetensors(
      int target, std::vector<std::pair<std::string, std::string>> metadata, TimePoint deadline);
  /// Loads parameters and extras; the statistics are zeroed. Errors: malformed (not our names and
  /// shapes, not finite), nothing loaded.
  [[nodiscard]] Co<Status> import_safetensors(int source, TimePoint deadline);

  /// Examples from the test set, for the window. `count` ≤ 64.
  [[nodiscard]] Co<Result<std::vector<Prediction>>> predictions(std::uint32_t first,
                                                                std::uint32_t count,
                                                                TimePoint deadline);

  /// Share of `threads` cores that training may take, by gaps between micro-batches; (0, 1].
  void set_duty(double share) noexcept;
  /// The share of the time in which the GPU may compute, in the same way; (0, 1].
  void set_gpu_duty(double share) noexcept;
  /// A rest before a micro-batch ends now, and the micro-batch is not made: for whoever pauses or
  /// leaves. What is owed stays owed. Nothing where none rests.
  void end_rest() noexcept;
  /// From the next micro-batch on, and after a restart.
  void set_threads(std::uint32_t threads) noexcept;
  /// As TrainerOptions::memory_limit; another one takes a process that is started again, by the
  /// next call, which tries the task's own micro-batch again.
  void set_memory_limit(std::uint64_t bytes) noexcept;
  /// The same of TrainerOptions::gpu_memory_limit. Costs nothing where no GPU is used.
  void set_gpu_memory_limit(std::uint64_t bytes) noexcept;
  /// The next call starts the process again, and that may use a GPU. Nothing if it does already.
  void try_gpu() noexcept;
  /// Stops the process where it stands (SIGSTOP), also inside a long micro-batch; deadlines wait.
  void pause_now() noexcept;
  void resume() noexcept;

  /// Where the stream of samples stands; keep it with a checkpoint to go on with the next sample.
  [[nodiscard]] std::uint64_t stream_position() const noexcept;
  void set_stream_position(std::uint64_t position) noexcept;

  [[nodiscard]] std::uint32_t micro_batch() const noexcept;  ///< after memory made it smaller
  [[nodiscard]] std::uint64_t restarts() const noexcept;
  /// Processor time, by all threads of all processes so far.
  [[nodiscard]] Duration cpu_time() const noexcept;
  /// Time in which a GPU was at work for us, by all processes so far.
  [[nodiscard]] Duration gpu_time() const noexcept;
  /// Why a trainer that could use a GPU does not, or holds no limit there; empty: nothing is wrong.
  [[nodiscard]] std::string const& gpu_trouble() const noexcept;
  /// Set where memory is why it does not.
  [[nodiscard]] std::optional<GpuShortage> const& gpu_shortage() const noexcept;
  [[nodiscard]] int pid() const noexcept;                          ///< 0 while none runs
  [[nodiscard]] std::string const& last_trouble() const noexcept;  ///< why it last died, for people

  /// Ends the process gently and waits for it; a kill after `deadline`.
  [[nodiscard]] Co<void> close(TimePoint deadline);

 private:
  struct State;
  explicit TrainerProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::worker
