// SPDX-License-Identifier: MIT
// Delayed mode: averages are made while the next epoch's samples are computed.
//
//     the swarm has a batch: our mean is kept aside, the next epoch begins at once
//       … batches … and meanwhile the round
//     the average is there: a step with it, between two batches
//       … batches … and meanwhile the average of state
//     it is there: what it changed is added, the epoch is reported
//
// The next round does not begin before all this is over. Samples of the next epoch that were
// computed before the step saw the older parameters: the price of the mode (hivemind's
// delay_grad_averaging with delay_optimizer_step).
#include <algorithm>

#include "core/base/log.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

constexpr Duration kTrainerTimeout = std::chrono::minutes(10);

}  // namespace

Status CollaborativeOptimizer::State::step_later(View const& view) {
  auto work = std::make_shared<Pending>();
  work->report = begin_report(view);
  work->report.took = runtime.now() - epoch_began;
  bool const own = take_mean();
  auto const mean = trainer.gradients();
  work->values.assign(mean.begin(), mean.end());
  work->epoch = epoch;
  work->samples = own ? samples : 0;
  // The records as they are now say what may be brought to this round.
  tracker.round_begins();
  pending = work;
  enter(epoch + 1);
  scope.spawn("delayed average", average_gradients_later(work));
  return ok();
}

Co<void> CollaborativeOptimizer::State::average_gradients_later(std::shared_ptr<Pending> work) {
  auto outcome = co_await average_gradients(work->values, work->samples, work->epoch + 1);
  if (outcome)
    work->outcome = *std::move(outcome);
  else
    work->outcome.why = outcome.error().detail;
  work->done = true;
  wake.notify_all();
}

Co<void> CollaborativeOptimizer::State::average_state_later(std::shared_ptr<Pending> work) {
  auto report = co_await run_state_round(work->values);
  if (report)
    work->report.state = *std::move(report);
  else
    work->state_failure = std::move(report).error();
  work->done = true;
  wake.notify_all();
}

/// Errors: cancelled, those of the trainer.
Co<Status> CollaborativeOptimizer::State::wait_for_pending() {
  auto const work = pending;
  say(work->stage == Pending::Stage::gradients ? "waiting for the last average"
                                               : "waiting for the last average of state");
  while (!work->done) {
    auto waited = co_await wake.wait();
    if (!waited) co_return waited;
  }
  batch_began = runtime.now();
  co_return co_await advance_pending();
}

/// What is under way is done: the next thing.
Co<Status> CollaborativeOptimizer::State::advance_pending() {
  if (pending->stage == Pending::Stage::gradients) co_return co_await apply_pending();
  co_return co_await conclude_pending();
}

Co<Status> CollaborativeOptimizer::State::apply_pending() {
  auto const work = pending;
  auto& report = work->report;
  report.averaged = work->outcome.averaged;
  report.why = std::move(work->outcome.why);
  report.gradients = work->outcome.report;
  if (!report.averaged && work->samples == 0) {
    pending.reset();
    missed_running = 2;  // no step was made: load what the others have
    co_return ok();
  }
  auto const next = next_epoch(work->outcome, work->epoch);
  if (next != epoch) {
    // Its group ended another epoch; samples computed meanwhile are those of the one after it.
    epoch = next;
    tracker.renumber(next);
  }
  report.epoch = next;
  say("stepping");
  auto const buffer = trainer.gradients();
  std::vector<float> const partial(buffer.begin(), buffer.end());
  std::copy(work->values.begin(), work->values.end(), buffer.begin());
  auto const stepped = co_await trainer.apply(next - 1, runtime.now() + kTrainerTimeout);
  if (!stepped) {
    pending.reset();
    if (stepped.error().code == Errc::cancelled) co_return stepped.error();
    co_return co_await trainer_lost(stepped.error());
  }
  auto const after = trainer.gradients();
  std::copy(partial.begin(), partial.end(), after.begin());
  report.learning_rate = stepped->learning_rate;
  work->stage = Pending::Stage::state;
  if (!state_due(next)) co_return co_await conclude_pending();
  auto values = co_await trainer.state_for_averaging(runtime.now() + kTrainerTimeout);
  if (!values) {
    pending.reset();
    if (values.error().code == Errc::cancelled) co_return values.error();
    co_return co_await trainer_lost(values.error());
  }
  if (!compress::all_finite(*values)) {
    pending.reset();
    co_return co_await roll_back("our state is not finite");
  }
  work->sent = *values;
  work->values = *std::move(values);
  work->done = false;
  batch_began = runtime.now();
  scope.spawn("delayed average of state", average_state_later(work));
  co_return ok();
}

/// What the round changed is added to the state as it is now: batches move running statistics.
Co<Status> CollaborativeOptimizer::State::conclude_pending() {
  auto const work = std::move(pending);
  pending.reset();
  auto const next = work->report.epoch;
  if (work->state_failure) {
    auto noted = co_await state_not_averaged(*work->state_failure, next);
    if (!noted) co_return noted;
    co_return co_await conclude_epoch(std::move(work->report), next, Entered::yes);
  }
  Status judged = ok();
  if (work->report.state)
    judged = co_await judge_state_average(*work->report.state, work->sent, work->values);
  if (!judged) {
    auto noted = co_await state_not_averaged(judged.error(), next);
    if (!noted) co_return noted;
  } else if (work->report.state) {
    auto const deadline = runtime.now() + kTrainerTimeout;
    auto values = co_await trainer.state_for_averaging(deadline);
    if (!values && values.error().code == Errc::cancelled) co_return values.error();
    if (!values) co_return co_await trainer_lost(values.error());
    for (std::size_t i = 0; i < values->size(); ++i) {
      auto& value = (*values)[i];
      // Where nothing moved meanwhile this is the average itself, not its rounding.
      value = value == work->sent[i] ? work->values[i] : value + (work->values[i] - work->sent[i]);
    }
    Status loaded = Error{Errc::invalid, "the state with its average is not finite"};
    if (compress::all_finite(*values))
      loaded = co_await trainer.load_averaged_state(*values, deadline);
    if (!loaded) {
      auto noted = co_await state_not_averaged(loaded.error(), next);
      if (!noted) co_return noted;
    }
  }
  co_return co_await conclude_epoch(std::move(work->report), next, Entered::yes);
}

}  // namespace waggle::optim
