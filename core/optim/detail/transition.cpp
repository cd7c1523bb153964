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
  if (pending) {
    say("waiting for the last average");
    while (!pending->done) {
      auto waited = co_await wake.wait();
      if (!waited) co_return waited;
    }
    co_return co_await apply_pending();
  }
  bool const others = view.has_peers || gradient_assembled.has_value();
  if (options.delayed && others) co_return co_await step_later(view);
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
  auto const next = next_epoch(outcome);
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
  co_return co_await finish_epoch(std::move(report), others && !behind, next, Entered::no);
}

// The group decides, so that peers which came an epoch apart end it together. Whoever is ahead
// holds, but never twice in a row: else one peer that always claims less would keep us where we
// are.
std::int64_t CollaborativeOptimizer::State::next_epoch(GradientOutcome const& outcome) {
  auto const agreed =
      outcome.averaged && outcome.report ? agreed_epoch(outcome.report->gathered, epoch) : epoch;
  held = agreed < epoch && !held;
  return held ? epoch : std::max(agreed, epoch) + 1;
}

// The epoch counts on at once, later samples are the next epoch's; the average is applied when it
// is there, before the next round begins.
Co<Status> CollaborativeOptimizer::State::step_later(View const& view) {
  auto work = std::make_shared<Pending>();
  work->report = begin_report(view);
  bool const own = take_mean();
  auto const mean = trainer.gradients();
  work->values.assign(mean.begin(), mean.end());
  work->epoch = epoch;
  work->samples = own ? samples : 0;
  pending = work;
  scope.spawn("delayed average", average_pending(work));
  enter(epoch + 1);
  co_return ok();
}

Co<Status> CollaborativeOptimizer::State::apply_pending() {
  auto const work = std::move(pending);
  pending.reset();
  auto report = std::move(work->report);
  report.averaged = work->outcome.averaged;
  report.why = std::move(work->outcome.why);
  report.gradients = std::move(work->outcome.report);
  if (!work->outcome.averaged && work->samples == 0) {
    missed_running = 2;  // no step was made: load what the others have
    co_return ok();
  }
  say("stepping");
  auto const buffer = trainer.gradients();
  std::vector<float> const partial(buffer.begin(), buffer.end());
  std::copy(work->values.begin(), work->values.end(), buffer.begin());
  auto const stepped = co_await trainer.apply(work->epoch, runtime.now() + kTrainerTimeout);
  if (!stepped) {
    if (stepped.error().code == Errc::cancelled) co_return stepped.error();
    co_return co_await trainer_lost(stepped.error());
  }
  auto const after = trainer.gradients();
  std::copy(partial.begin(), partial.end(), after.begin());
  report.learning_rate = stepped->learning_rate;
  co_return co_await finish_epoch(std::move(report), true, work->epoch + 1, Entered::yes);
}

/// After the step: the average of state, the snapshot for donors, and on to `next`.
Co<Status> CollaborativeOptimizer::State::finish_epoch(EpochReport report,
                                                       bool with_others,
                                                       std::int64_t next,
                                                       Entered entered) {
  if (with_others && state_due(next)) {
    say("averaging state");
    auto averaged = co_await average_state();
    if (averaged) {
      report.state = *std::move(averaged);
    } else {
      auto const& error = averaged.error();
      if (error.code == Errc::cancelled) co_return error;
      log::info("optim", "epoch ", next, ": state not averaged, ", error.detail);
      if (error.code == Errc::invalid) {
        auto rolled = co_await roll_back(error.detail);
        if (!rolled) co_return rolled;
      }
    }
  }
  state_round.reset();
  auto taken = co_await take_snapshot(next);
  if (!taken) co_return taken;
  report.took = runtime.now() - epoch_began;
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
