// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/averaging/group.hpp"
#include "core/base/scope.hpp"
#include "core/optim/attendance.hpp"
#include "core/optim/average_guard.hpp"
#include "core/optim/collaborative_optimizer.hpp"
#include "core/optim/donor_trust.hpp"
#include "core/optim/round_clock.hpp"
#include "core/optim/tracker.hpp"

namespace waggle::optim {

/// What became of a gradient round.
struct GradientOutcome {
  bool averaged = false;
  std::string why;  ///< not averaged
  std::optional<averaging::RoundReport> report;
};

/// An epoch that counts as over while its averages are still being made (delayed mode).
struct Pending {
  enum class Stage : std::uint8_t { gradients, state };
  Stage stage = Stage::gradients;
  bool done = false;          ///< the stage's average is there, or failed
  std::vector<float> values;  ///< gradients: our mean, then the group's; state: ours, then theirs
  std::vector<float> sent;    ///< state: ours, as the round began
  std::int64_t epoch = 0;     ///< the one that ended
  std::uint64_t samples = 0;
  GradientOutcome outcome;
  std::optional<Error> state_failure;
  EpochReport report;
};

/// A state accepted from the only other peer although it looked worse than it should: taken back
/// if it has not proved itself after a few epochs.
struct Probation {
  PeerId donor;
  int epochs_left = 0;
  double bound = 0;  ///< probe loss to reach
  std::shared_ptr<averaging::StateSnapshot const> before;
};

/// The state machine behind CollaborativeOptimizer; its parts by file: collaborative_optimizer.cpp
/// (the loop), batches.cpp (training), transition.cpp (from one epoch to the next), delayed.cpp
/// (the same while training goes on), rounds.cpp (groups and averages), catch_up.cpp (states from
/// donors), leaving.cpp (the last average).
struct CollaborativeOptimizer::State {
  State(net::Host& host,
        dht::Dht& dht,
        Executor& compute,
        crypto::RecordKey const& record_key,
        LocalTrainer& trainer,
        OptimizerOptions options);

  // collaborative_optimizer.cpp
  Co<Status> run(std::int64_t start, std::function<bool(EpochReport const&)> stop_after);
  Co<Status> settle_in();
  Co<Status> wait_while_paused();
  [[nodiscard]] bool ready(View const& view) const;

  // batches.cpp
  Co<Status> train_one_batch();
  Co<Status> trainer_lost(Error why);
  Co<Status> roll_back(std::string why);
  [[nodiscard]] bool too_late_for_a_batch(View const& view) const;
  Co<Status> wait_for_the_end(View const& view);

  // transition.cpp
  Co<Status> transition(View const& view);
  Co<Status> step_now(View const& view);
  [[nodiscard]] std::int64_t next_epoch(GradientOutcome const& outcome, std::int64_t ended);
  Co<Status> finish_epoch(EpochReport report, bool with_others, std::int64_t next);
  Co<Status> state_not_averaged(Error why, std::int64_t next);
  /// Whether later samples count to the next epoch already, as in delayed mode.
  enum class Entered : bool { no, yes };
  Co<Status> conclude_epoch(EpochReport report, std::int64_t next, Entered entered);
  Co<Status> take_snapshot(std::int64_t label);
  Co<Status> watch_probation();
  [[nodiscard]] bool take_mean();
  [[nodiscard]] EpochReport begin_report(View const& view) const;
  void enter(std::int64_t next);

  // delayed.cpp
  Status step_later(View const& view);
  Co<Status> wait_for_pending();
  Co<Status> advance_pending();
  Co<Status> apply_pending();
  Co<Status> conclude_pending();
  Co<void> average_gradients_later(std::shared_ptr<Pending> work);
  Co<void> average_state_later(std::shared_ptr<Pending> work);

  // rounds.cpp
  void begin_searches(View const& view);
  void begin_gradient_search(std::int64_t ending);
  void begin_state_search(std::int64_t next_epoch);
  void wait_no_more(std::span<PeerId const> missing);
  void prepare_next_rounds(averaging::Group const& group, std::int64_t next_epoch);
  [[nodiscard]] bool leaves_searches_alone(View const& view) const;
  [[nodiscard]] bool state_due(std::int64_t next_epoch) const;
  Co<Result<GradientOutcome>> average_gradients(std::span<float> values,
                                                std::uint64_t count,
                                                std::int64_t next_epoch);
  Co<Result<averaging::RoundReport>> average_state();
  Co<Result<averaging::RoundReport>> run_state_round(std::span<float> values);
  [[nodiscard]] averaging::Expected state_expected();
  Co<Status> judge_state_average(averaging::RoundReport const& report,
                                 std::span<float const> own,
                                 std::span<float> values);

  // catch_up.cpp
  [[nodiscard]] bool must_load(View const& view);
  Co<Status> catch_up();
  Co<Status> load_from(PeerId donor, std::int64_t lag);
  Co<Status> judge_download(averaging::DownloadedState const& got, bool only_donor);
  Co<Result<double>> own_best_loss();
  [[nodiscard]] std::vector<PeerId> choose_donors(
      View const& view, std::vector<averaging::StateSharing::Donor> const& declared) const;
  [[nodiscard]] std::int64_t most_ahead(View const& view) const;
  void refuse_donor(PeerId const& donor, std::string why);

  // leaving.cpp
  Co<void> average_last_state();
  Co<void> wait_for_last_group();
  [[nodiscard]] bool all_go_on(std::span<Standing const> before);

  void say(std::string what) { phase = std::move(what); }

  net::Host& host;
  Runtime& runtime;
  dht::Dht& dht;
  LocalTrainer& trainer;
  OptimizerOptions options;
  std::vector<net::Registration> validators;
  ProgressTracker tracker;
  AverageGuard gradient_guard;
  AverageGuard state_guard;
  Attendance state_attendance;
  averaging::Averager gradients;
  averaging::Averager states;
  averaging::StateSharing sharing;
  RoundClock gradient_clock;
  RoundClock state_clock;
  Signal wake;  ///< finish, resume, a pending average done
  Scope scope;  ///< averages of delayed mode

  std::function<void(EpochReport const&)> on_epoch;
  std::function<Co<Status>(EpochReport const&)> between_epochs;
  std::function<void(Error const&)> on_trainer_given_up;
  std::function<void(int)> on_trainer_losses;
  std::function<bool(EpochReport const&)> stop_after;

  std::string phase = "starting";
  std::int64_t epoch = 0;
  std::uint64_t samples = 0;
  double loss_sum = 0;
  TimePoint epoch_began{};
  TimePoint batch_began{};
  double batch_seconds = 0;             ///< of recent batches
  std::optional<TimePoint> idle_since;  ///< no batch fits into this epoch any more
  bool finishing = false;
  bool paused = false;
  bool joining = true;
  bool stopping = false;  ///< stop_after said so
  bool started = false;
  int nonfinite_batches = 0;
  int trainer_losses = 0;
  bool held = false;       ///< the last transition kept our epoch
  int missed_running = 0;  ///< epochs in a row that others ended without us
  std::optional<TimePoint> ahead_since;

  std::unique_ptr<averaging::Averager::Round> gradient_round;
  std::unique_ptr<averaging::Averager::Round> state_round;
  TimePoint gradient_search_ends{};
  std::int64_t gradient_search_epoch = 0;  ///< the one that its group ends
  std::vector<PeerId> silent_meanwhile;    ///< in another round, since its search began
  TimePoint state_search_ends{};
  std::optional<TimePoint> state_due_since;  ///< our values for the state round are ready
  std::optional<TimePoint> gradient_assembled;
  std::vector<PeerId> gradient_group;  ///< whom the state round after it waits for

  std::shared_ptr<Pending> pending;

  std::shared_ptr<averaging::StateSnapshot const> current;  ///< this epoch's begin
  std::shared_ptr<averaging::StateSnapshot const> good;     ///< the last that led to finite losses
  std::optional<double> best_loss;  ///< probe loss, lower of first and later
  double last_probe = 0;
  bool probed = false;
  TimePoint next_probe{};
  std::optional<Probation> probation;
  DonorTrust donors;
};

}  // namespace waggle::optim
