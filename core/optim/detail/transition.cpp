// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/base/log.hpp"
#include "core/optim/agreed_epoch.hpp"
#include "core/optim/detail/optimizer_state.hpp"
#include "core/optim/gradient_mean.hpp"

namespace waggle::optim {

namespace {

constexpr Duration kTrainerTimeout = std::chrono::minutes(10);
// The probe of our own state, which donors tell newcomers: at most this often, and at most this
// part of the time.
constexpr Duration kProbeEvery = std::chrono::seconds(30);
constexpr int kProbeShare = 50;

}  // namespace

void CollaborativeOptimizer::State::enter(std::int64_t next) {
  epoch = next;
  samples = 0;
  loss_sum = 0;
  trainer.clear_gradients();
  epoch_began = batch_began = runtime.now();
  idle_since.reset();
  tracker.entered(next);
}

/// False: there is nothing of our own, and the buffer is zero.
bool CollaborativeOptimizer::State::take_mean() {
  auto const sum = trainer.gradients();
  if (samples > 0) mean_of_sum(sum, samples);
  if (samples > 0 && compress::all_finite(sum)) return true;
  if (samples > 0) log::warning("optim", "our gradient is not finite, and is not sent");
  trainer.clear_gradients();
  samples = 0;
  return false;
}

EpochReport CollaborativeOptimizer::State::begin_report(View const& view) const {
  EpochReport report;
  report.epoch = epoch + 1;
  report.our_samples = samples;
  report.swarm_samples = static_cast<std::uint64_t>(
      std::max(view.progress.epoch == epoch ? view.estimated : 0.0, static_cast<double>(samples)));
  report.loss = samples > 0 ? loss_sum / static_cast<double>(samples) : 0;
  return report;
}

Co<Status> CollaborativeOptimizer::State::transition(View const& view) {
  if (pending) co_return co_await wait_for_pending();
  bool const others = view.has_peers || gradient_assembled.has_value();
  // Whom the others left behind takes part in the round that ended the epoch, if it was in that
  // group; without one the next group to be found is that of their next epoch.
  bool const behind = view.progress.epoch > epoch;
  if (options.delayed && others && (!behind || gradient_round)) co_return step_later(view);
  co_return co_await step_now(view);
}

Co<Status> CollaborativeOptimizer::State::step_now(View const& view) {
  auto report = begin_report(view);
  bool const others = view.has_peers || gradient_assembled.has_value();
  bool const behind = view.progress.epoch > epoch;
  bool const own = take_mean();
  GradientOutcome outcome;
  outcome.why = "alone";
  if (behind) {
    // Theirs is over; a group of ours, if there is one, is that of their next epoch.
    outcome.why = "the others had ended this epoch";
  } else if (others) {
    say("averaging gradients");
    tracker.round_begins();
    auto const values = trainer.gradients();
    WAGGLE_CO_TRY(outcome, co_await average_gradients(values, samples, epoch + 1));
  }
  missed_running = behind ? missed_running + 1 : 0;
  if (!outcome.averaged && !own) {
    // Never a step on zeros: compute something, or load what the others have.
    tracker.dropped();
    loss_sum = 0;
    if (behind) co_return ok();
    co_return co_await train_one_batch();
  }
  auto const next = next_epoch(outcome, epoch);
  report.epoch = next;
  report.averaged = outcome.averaged;
  report.why = std::move(outcome.why);
  report.gradients = std::move(outcome.report);
  say("stepping");
  auto const stepped = co_await trainer.apply(next - 1, runtime.now() + kTrainerTimeout);
  if (!stepped) {
    if (stepped.error().code == Errc::cancelled) co_return stepped.error();
    co_return co_await trainer_lost(stepped.error());
  }
  report.learning_rate = stepped->learning_rate;
  co_return co_await finish_epoch(std::move(report), others && !behind, next);
}

// The group decides, so that peers which came an epoch apart end it together. Whoever is ahead
// holds, but never twice in a row: else one peer that always claims less would keep us where we
// are.
std::int64_t CollaborativeOptimizer::State::next_epoch(GradientOutcome const& outcome,
                                                       std::int64_t ended) {
  auto const agreed =
      outcome.averaged && outcome.report ? agreed_epoch(outcome.report->gathered, ended) : ended;
  held = agreed < ended && !held;
  return held ? ended : std::max(agreed, ended) + 1;
}

/// After the step: the average of state, and on to `next`.
Co<Status> CollaborativeOptimizer::State::finish_epoch(EpochReport report,
                                                       bool with_others,
                                                       std::int64_t next) {
  if (with_others && state_due(next)) {
    say("averaging state");
    auto averaged = co_await average_state();
    if (averaged) {
      report.state = *std::move(averaged);
    } else {
      auto noted = co_await state_not_averaged(averaged.error(), next);
      if (!noted) co_return noted;
    }
  }
  report.took = runtime.now() - epoch_began;
  co_return co_await conclude_epoch(std::move(report), next, Entered::no);
}

Co<Status> CollaborativeOptimizer::State::state_not_averaged(Error why, std::int64_t next) {
  if (why.code == Errc::cancelled) co_return why;
  log::info("optim", "epoch ", next, ": state not averaged, ", why.detail);
  if (why.code != Errc::invalid) co_return ok();
  co_return co_await roll_back(why.detail);
}

/// The snapshot for donors, the report, and whoever waits for the time between two epochs.
Co<Status> CollaborativeOptimizer::State::conclude_epoch(EpochReport report,
                                                         std::int64_t next,
                                                         Entered entered) {
  state_round.reset();
  auto taken = co_await take_snapshot(next);
  if (!taken) co_return taken;
  // Not only where the number changes: who holds begins the same epoch anew.
  if (entered == Entered::no) enter(next);
  auto watched = co_await watch_probation();
  if (!watched) co_return watched;
  if (on_epoch) on_epoch(report);
  if (between_epochs) {
    auto const f = between_epochs;
    auto between = co_await f(report);
    if (!between) co_return between;
  }
  if (stop_after && stop_after(report)) stopping = true;
  if (finishing) stopping = true;
  batch_began = runtime.now();
  co_return ok();
}

/// What donors serve and what we fall back to. A trainer that cannot give it now gives the next.
Co<Status> CollaborativeOptimizer::State::take_snapshot(std::int64_t label) {
  auto const deadline = runtime.now() + kTrainerTimeout;
  auto taken = co_await trainer.snapshot(label, deadline);
  if (!taken) {
    if (taken.error().code == Errc::cancelled) co_return taken.error();
    log::warning("optim", "no snapshot of epoch ", label, ": ", taken.error().detail);
    co_return ok();
  }
  auto snapshot = *std::move(taken);
  if (!compress::all_finite(snapshot->values)) {
    co_return co_await roll_back(cat("the state of epoch ", label, " is not finite"));
  }
  auto const now = runtime.now();
  if (!snapshot->has_test_loss && (!probed || now >= next_probe)) {
    auto const loss = co_await trainer.probe(*snapshot, deadline);
    if (!loss && loss.error().code == Errc::cancelled) co_return loss.error();
    if (loss && std::isfinite(*loss)) {
      probed = true;
      last_probe = *loss;
      best_loss = std::min(best_loss.value_or(*loss), *loss);
    }
    auto const after = runtime.now();
    next_probe = after + std::max(kProbeEvery, kProbeShare * (after - now));
  }
  if (!snapshot->has_test_loss && probed && snapshot.use_count() == 1) {
    // Nobody else holds it yet, so that the figure can be written without a copy. It may be some
    // epochs old: then it is the worse one, which a newcomer only compares against.
    auto& ours = const_cast<averaging::StateSnapshot&>(*snapshot);
    ours.test_loss = last_probe;
    ours.has_test_loss = true;
  }
  good = current;
  current = snapshot;
  sharing.publish(snapshot);
  co_return ok();
}

}  // namespace waggle::optim
