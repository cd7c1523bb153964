// SPDX-License-Identifier: MIT
// One batch after another: what a good one adds, and what is done when the trainer or its numbers
// are lost.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/log.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

// Batches in a row with a non-finite loss before the last good state is taken back.
constexpr int kNonFiniteBatches = 3;
constexpr Duration kTrainerPause = std::chrono::seconds(1);
constexpr Duration kBatchTimeout = std::chrono::minutes(10);
constexpr Duration kShortestIdle = std::chrono::milliseconds(2);
constexpr Duration kLongestIdle = std::chrono::milliseconds(500);

}  // namespace

Co<Status> CollaborativeOptimizer::State::train_one_batch() {
  say("training");
  if (samples == 0) batch_began = runtime.now();
  auto const batch = co_await trainer.accumulate(runtime.now() + kBatchTimeout);
  auto const now = runtime.now();
  if (!batch) {
    if (batch.error().code == Errc::cancelled) co_return batch.error();
    co_return co_await trainer_lost(batch.error());
  }
  // Its rest was ended: what comes now says why.
  if (batch->samples == 0 && batch->finite) co_return ok();
  if (std::exchange(trainer_losses, 0) != 0 && on_trainer_losses) on_trainer_losses(0);
  double const took = to_seconds(now - batch_began);
  batch_seconds = batch_seconds > 0 ? 0.7 * batch_seconds + 0.3 * took : took;
  if (batch->finite && std::isfinite(batch->loss_sum)) {
    nonfinite_batches = 0;
    samples += batch->samples;
    loss_sum += batch->loss_sum;
    tracker.trained(batch->samples, now - batch_began);
  } else if (++nonfinite_batches >= kNonFiniteBatches) {
    nonfinite_batches = 0;
    co_return co_await roll_back("the loss was not finite in several batches running");
  }
  batch_began = now;
  co_return ok();
}

// The trainer is restarted by its owner, from the last committed state; what it had summed is gone.
Co<Status> CollaborativeOptimizer::State::trainer_lost(Error why) {
  log::warning("optim", "the trainer was lost: ", why.detail);
  bool const given_up = ++trainer_losses >= CollaborativeOptimizer::kMostTrainerLosses;
  if (given_up && !on_trainer_given_up)
    co_return Error{Errc::closed, cat("the trainer is gone for good: ", why.detail)};
  say("waiting for the trainer");
  samples = 0;
  loss_sum = 0;
  trainer.clear_gradients();
  tracker.dropped();
  if (given_up) {
    on_trainer_given_up(why);
  } else {
    if (on_trainer_losses) on_trainer_losses(trainer_losses);
    auto slept = co_await runtime.sleep_for(kTrainerPause * (trainer_losses - 1));
    if (!slept) co_return slept;
  }
  bool const again = trainer_losses > 1;
  if (given_up) trainer_losses = 0;
  if (again && current) {
    auto const restored = co_await trainer.restore(*current, runtime.now() + kBatchTimeout);
    if (!restored && restored.error().code == Errc::cancelled) co_return restored;
  }
  co_return ok();
}

Co<Status> CollaborativeOptimizer::State::roll_back(std::string why) {
  log::warning("optim", why, ": back to the last good state");
  samples = 0;
  loss_sum = 0;
  trainer.clear_gradients();
  tracker.dropped();
  auto const state = good ? good : current;
  if (!state) co_return ok();
  say(cat("rolling back to epoch ", state->epoch, ": ", why));
  auto const restored = co_await trainer.restore(*state, runtime.now() + kBatchTimeout);
  if (!restored) {
    if (restored.error().code == Errc::cancelled) co_return restored;
    co_return co_await trainer_lost(restored.error());
  }
  current = state;
  auto const view = tracker.view();
  if (!view.has_peers) {
    enter(state->epoch);  // alone, the old state is the swarm's
    co_return ok();
  }
  // With others theirs is better than our old one; if nobody gives it, the next average of state
  // closes the difference.
  missed_running = 2;
  co_return ok();
}

// A batch that would end far behind the epoch makes everybody wait in the round: better none.
bool CollaborativeOptimizer::State::too_late_for_a_batch(View const& view) const {
  if (!view.has_peers || samples == 0 || batch_seconds <= 0) return false;
  auto const idle = idle_since ? to_seconds(runtime.now() - *idle_since) : 0.0;
  return view.progress.eta - view.progress_time < batch_seconds / 2 && idle < batch_seconds;
}

Co<Status> CollaborativeOptimizer::State::wait_for_the_end(View const& view) {
  if (!idle_since) idle_since = runtime.now();
  double const left = view.progress.eta - view.progress_time;
  auto const pause = std::clamp<Duration>(seconds(left), kShortestIdle, kLongestIdle);
  auto slept = co_await runtime.sleep_for(pause);
  batch_began = runtime.now();
  co_return slept;
}

}  // namespace waggle::optim
