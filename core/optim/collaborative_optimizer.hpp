// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/averaging/averager.hpp"
#include "core/averaging/state_sharing.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/dht.hpp"
#include "core/optim/belief.hpp"
#include "core/optim/local_trainer.hpp"
#include "core/optim/progress.hpp"

namespace waggle::optim {

/// Fixed by the task; the same on every peer.
struct OptimizerOptions {
  std::string run_id;
  std::uint64_t target_batch_size = 512;
  std::int64_t average_state_every = 1;
  Duration matchmaking_time = std::chrono::seconds(15);
  Duration averaging_timeout = std::chrono::seconds(60);
  Duration load_state_timeout = std::chrono::seconds(600);
  bool delayed = false;
  compress::Policy compression{compress::CompressionType::float16};
  compress::Policy state_compression{compress::CompressionType::float16};
  bool client_mode = false;
};

/// One epoch transition, for the ledger, the Snapshot and the demo's table.
struct EpochReport {
  std::int64_t epoch = 0;  ///< the epoch that begins
  std::uint64_t our_samples = 0;
  std::uint64_t swarm_samples = 0;
  double loss = 0;  ///< our mean over the epoch's batches
  double learning_rate = 0;
  bool averaged = false;  ///< false: stepped on local gradients, with `why`
  std::string why;
  std::optional<averaging::RoundReport> gradients;
  std::optional<averaging::RoundReport> state;
  Duration took{};
};

/// What the optimizer is doing now, in words a person reads.
struct OptimizerStatus {
  std::string phase;  ///< "training", "averaging", "loading state", ...
  std::int64_t epoch = 0;
  GlobalProgress swarm;
  std::vector<Standing> peers;  ///< the others' records, as they are judged
  std::uint64_t samples_this_epoch = 0;
  double samples_per_second = 0;
  std::vector<std::string>
      ignored_peers;  ///< "…abc123: claims epoch 1000000000, the swarm is at 12"
};

/// hivemind's Optimizer as one coroutine: accumulate, report progress, average when the swarm has a
/// batch, step, average state, catch up when behind. A failed round steps on local gradients, never
/// on zeros. Nobody is believed (DESIGN.md section 6). Source: spec/hivemind-averaging.md sections
/// 6 and 7. Thread: the network thread.
class CollaborativeOptimizer {
 public:
  CollaborativeOptimizer(net::Host& host,
                         dht::Dht& dht,
                         Executor& compute,
                         crypto::RecordKey const& record_key,
                         LocalTrainer& trainer,
                         OptimizerOptions options);
  ~CollaborativeOptimizer();

  /// Called at every epoch transition, before the next batch.
  void on_epoch(std::function<void(EpochReport const&)> f);
  /// Awaited after on_epoch and before the next batch, while the trainer is idle: the time to
  /// evaluate or save with it. An error ends run() with it.
  void between_epochs(std::function<Co<Status>(EpochReport const&)> f);
  /// Losses of the trainer in a row, without a batch between, before it is given up. More: hours of
  /// starting what cannot run. Fewer: a driver that is restarted costs the task.
  static constexpr int kMostTrainerLosses = 5;
  /// Told when the trainer is given up, with what it last died of: the one to pause(). Training is
  /// tried again, with a fresh count, once resume()d. Where nobody listens, run() ends instead.
  void on_trainer_given_up(std::function<void(Error const& why)> f);
  /// The count goes on from `losses`, where it was kept from an earlier run, or begins anew with 0.
  void set_trainer_losses(int losses) noexcept;
  /// Told of the count when it changes otherwise: one more, or 0 with a batch; not of the loss with
  /// which the trainer is given up.
  void on_trainer_losses(std::function<void(int losses)> f);

  /// Starts at `epoch` with the trainer's present state (0 for a fresh one), loads from peers if
  /// they are ahead, trains until asked to finish or `stop_after(report)` says true. Errors:
  /// cancelled, closed (the trainer was given up, and nobody listens).
  [[nodiscard]] Co<Status> run(std::int64_t epoch,
                               std::function<bool(EpochReport const&)> stop_after);

  /// "Finish this epoch, then stop": run() returns ok after the next transition (at once while idle
  /// or paused).
  void finish() noexcept;
  /// Computes nothing while paused, keeps serving state. The reason is shown.
  void pause() noexcept;
  void resume() noexcept;
  /// The last average of state before leaving, so that peers agree; also withdraws our progress
  /// record.
  [[nodiscard]] Co<void> close();

  [[nodiscard]] OptimizerStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::optim
