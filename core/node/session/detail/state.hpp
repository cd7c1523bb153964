// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/scope.hpp"
#include "core/base/signal.hpp"
#include "core/device/power_level.hpp"
#include "core/node/events.hpp"
#include "core/node/session/crash_guard.hpp"
#include "core/node/session/kept_failures.hpp"
#include "core/node/session/ledger_writer.hpp"
#include "core/node/session/session.hpp"
#include "core/node/session/trainer.hpp"
#include "core/node/session/wish.hpp"
#include "core/optim/collaborative_optimizer.hpp"
#include "core/optim/swarm_metrics.hpp"

namespace waggle::node {

constexpr Duration kEvaluationTime = std::chrono::minutes(10);
// Between two looks whether a full disk has room again.
constexpr Duration kRoomEvery = std::chrono::seconds(5);

/// What a session's coroutines share. session.cpp fetches and trains, starting.cpp starts the
/// trainer, reporting.cpp tells what an epoch came to, saving.cpp measures and saves.
struct Session::State {
  State(Services& s, FoundTask f, SessionOptions o, EventSink e)
      : services(s),
        found(std::move(f)),
        options(std::move(o)),
        events(std::move(e)),
        ledger(s.store(), s.disk()),
        woken(s.runtime()),
        scope(s.runtime()) {}

  Services& services;
  FoundTask found;
  SessionOptions options;
  EventSink events;
  LedgerWriter ledger;
  task::Definition definition;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<optim::CollaborativeOptimizer> optimizer;
  std::unique_ptr<optim::SwarmMetrics> metrics;  ///< below the optimizer, whose validator it needs
  TaskView view;
  events::Given given;
  std::int64_t finish_at = 0;  ///< 0: not asked
  bool finish_soon = false;
  bool makes_way = false;  ///< for another task: no last measurement
  bool discards = false;   ///< the task is to be forgotten: no saving either
  bool target_reached = false;
  bool measure_whole = false;  ///< asked for
  bool paused_by_user = false;
  std::string guest_rests;  ///< why the rules of a good guest say not to compute; empty: compute
  device::Effort effort;    ///< of the trainer
  std::uint64_t memory_limit = 0;  ///< of the trainer, in bytes; 0: none
  std::uint64_t gpu_memory_limit = 0;
  bool finish_wished = false;  ///< by the person, not because the program ends
  std::optional<Wish>
      told;               ///< by the person to this session: what is kept of before counts no more
  std::string disk_full;  ///< why nothing is trained: need, have and path; empty: there is room
  CrashGuard guard;       ///< until the trainer runs; then the optimizer counts
  std::string crashed;    ///< why the trainer was given up; empty: it was not
  bool failures_kept = false;      ///< the store has some
  bool failures_forgiven = false;  ///< by the person: those of before count no more
  Signal woken;                    ///< a person resumed, or it is to leave
  Duration cpu_noted{};            ///< the trainer's, up to the last row of the ledger
  double gpu_noted = 0;            ///< joules, up to the same
  TimePoint last_checkpoint{};
  TimePoint next_evaluation{};
  TimePoint last_progress{};
  TimePoint examples_until{};
  TimePoint next_examples{};
  std::shared_ptr<Examples const> examples;
  std::int64_t checkpoint_epoch = -1;
  std::shared_ptr<averaging::StateSnapshot const> unsaved;  ///< what a full disk did not take
  Scope scope;

  Runtime& runtime() { return services.runtime(); }

  Tried tried() const {
    auto const& record = found.record;
    return {record.operator_id, record.prefix, record.version, services.options().version};
  }

  // Fetching and training.
  void enter(std::string state, std::string text);
  /// False: told to leave first.
  Co<Result<bool>> fetch(std::map<std::string, std::filesystem::path>& files);
  void end_untrained();
  Co<void> take_up_wish();
  void say_disk_full(std::string why);
  void use(device::Effort wanted);
  void name_pause();
  void pause_or_train();
  void say_paused();
  void keep_wish(Wish wish);
  Co<Status> run();
  bool enough(optim::EpochReport const& report) const;
  Co<Status> finish_well();

  // Starting the trainer.
  Co<Result<std::int64_t>> take_up(std::map<std::string, std::filesystem::path> const& files);
  Co<Status> start_trainer(std::map<std::string, std::filesystem::path> const& files);
  Co<Result<std::optional<std::int64_t>>> begin_trainer(
      std::map<std::string, std::filesystem::path> const& files);
  Co<Result<bool>> stay_given_up();
  void give_trainer_up(Error const& why);
  void pause_for_crash();
  Co<void> take_up_failures();
  void note_failures(Failures failures);
  void begin_failures_anew();

  // Telling what an epoch came to.
  void epoch_ended(optim::EpochReport const& report);
  void tell_metrics(optim::EpochReport const& report);
  static RoundView round_view(optim::EpochReport const& report);
  void note_in_ledger(optim::EpochReport const& report, double flops);

  // Measuring and saving.
  enum class Measured : std::uint8_t { sample, whole, final };

  Co<Status> measure_and_save(optim::EpochReport const& report);
  void wait_for_room(std::string why, std::int64_t epoch);
  Co<void> save_when_there_is_room(std::int64_t epoch);
  Co<Status> make_examples(std::int64_t epoch);
  bool my_turn(optim::EpochReport const& report) const;
  void take_measurement(std::int64_t epoch, Evaluation const& measured, Measured how);
  Co<Status> save(std::int64_t epoch);
};

}  // namespace waggle::node
