// SPDX-License-Identifier: MIT
#include "core/optim/collaborative_optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/rsa_validator.hpp"
#include "core/dht/schema_validator.hpp"
#include "core/optim/detail/averager_options.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

// Batches in a row with a non-finite loss before the last good state is taken back.
constexpr int kNonFiniteBatches = 3;
constexpr Duration kTrainerPause = std::chrono::seconds(1);
constexpr Duration kBatchTimeout = std::chrono::minutes(10);
// How long a newcomer listens before it believes that it is the first.
constexpr Duration kListen = std::chrono::seconds(4);
constexpr Duration kShortestIdle = std::chrono::milliseconds(2);
constexpr Duration kLongestIdle = std::chrono::milliseconds(500);
constexpr Duration kListenPause = std::chrono::milliseconds(200);
// Ended by close(): one last average of state, at most.
constexpr Duration kLastAverage = std::chrono::seconds(5);
// Between two looks whether anybody will come to it.
constexpr Duration kLastLook = std::chrono::milliseconds(500);

std::vector<std::size_t> numels(averaging::Schema const& schema) {
  std::vector<std::size_t> numels;
  for (auto const& tensor : schema) numels.push_back(tensor.numel());
  return numels;
}

}  // namespace

Co<Status> CollaborativeOptimizer::State::run(std::int64_t start,
                                              std::function<bool(EpochReport const&)> stop) {
  stop_after = std::move(stop);
  epoch = start;
  if (!started) {
    started = true;
    tracker.start();
  }
  joining = true;
  tracker.set_joining(true);
  enter(start);
  {
    auto taken = co_await take_snapshot(start);
    if (!taken) co_return taken;
  }
  {
    auto settled = co_await settle_in();
    if (!settled) co_return settled;
  }
  for (;;) {
    if (stopping || (finishing && (paused || (samples == 0 && !pending)))) co_return ok();
    if (paused) {
      auto waited = co_await wait_while_paused();
      if (!waited) co_return waited;
      continue;
    }
    if (pending && pending->done) {
      auto advanced = co_await advance_pending();
      if (!advanced) co_return advanced;
      continue;
    }
    auto const view = tracker.view();
    if (must_load(view)) {
      auto loaded = co_await catch_up();
      if (!loaded) co_return loaded;
      continue;
    }
    begin_searches(view);
    if (ready(view)) {
      auto moved = co_await transition(view);
      if (!moved) co_return moved;
    } else if (too_late_for_a_batch(view)) {
      auto waited = co_await wait_for_the_end(view);
      if (!waited) co_return waited;
    } else {
      auto trained = co_await train_one_batch();
      if (!trained) co_return trained;
    }
  }
}

// A newcomer hears the others out before it counts itself in: records must come, and their peers
// be met.
Co<Status> CollaborativeOptimizer::State::settle_in() {
  say("looking for the swarm");
  auto const until = runtime.now() + kListen;
  while (runtime.now() < until) {
    auto const heard = co_await tracker.refresh(until);
    if (!heard && heard.error().code == Errc::cancelled) co_return heard;
    auto const view = tracker.view();
    if (view.has_peers) {
      if (!must_load(view)) break;
      co_return co_await catch_up();
    }
    // Nobody is there, or nobody that we could meet.
    if (heard && !tracker.dialling()) break;
    auto const slept = co_await runtime.sleep_for(kListenPause);
    if (!slept) co_return slept;
  }
  joining = false;
  tracker.set_joining(false);
  enter(epoch);
  co_return ok();
}

bool CollaborativeOptimizer::State::ready(View const& view) const {
  if (view.progress.epoch > epoch) return true;
  return view.estimated >= static_cast<double>(options.target_batch_size);
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

Co<Status> CollaborativeOptimizer::State::wait_while_paused() {
  say("paused");
  gradient_round.reset();
  state_round.reset();
  tracker.set_silent(true);
  while (paused && !finishing) {
    auto waited = co_await wake.wait();
    if (!waited) co_return waited;
  }
  tracker.set_silent(false);
  batch_began = runtime.now();
  co_return ok();
}

// Until somebody is found, or nobody can come any more: who has begun another batch averages its
// state at its epoch's end, not with us.
Co<void> CollaborativeOptimizer::State::wait_for_last_group() {
  auto const before = tracker.view().peers;
  state_due_since = runtime.now();
  while (!state_round->is_assembled() && !state_round->finished() &&
         runtime.now() < state_search_ends) {
    auto const look = std::min(state_search_ends, runtime.now() + kLastLook);
    auto const found = co_await state_round->assembled(look);
    if (found || found.error().code == Errc::cancelled) co_return;
    auto const heard = co_await tracker.refresh(look + kLastLook);
    if (!heard && heard.error().code == Errc::cancelled) co_return;
    if (all_go_on(before)) state_search_ends = runtime.now();
  }
}

// Whether each of the last round, and everybody else who could come, has said since `before` that
// it brings samples of this epoch or is further on. Who is not there may be leaving, too; who is
// neither believed nor connected could say anything. Clocks differ, so that a record is held
// against the same peer's last one.
bool CollaborativeOptimizer::State::all_go_on(std::span<Standing const> before) {
  auto const view = tracker.view();
  auto const goes_on = [&](Standing const& p) {
    if (!p.believed && !p.connected) return true;
    auto const last = std::ranges::find(before, p.peer, &Standing::peer);
    bool const news = last == before.end() || p.time > last->time;
    return news && (p.epoch > epoch || (p.epoch == epoch && p.samples > 0));
  };
  auto const of_round = [&](PeerId const& peer) {
    return peer == host.self() ||
           std::ranges::find(view.peers, peer, &Standing::peer) != view.peers.end();
  };
  return std::ranges::all_of(view.peers, goes_on) && std::ranges::all_of(gradient_group, of_round);
}

CollaborativeOptimizer::State::State(net::Host& h,
                                     dht::Dht& d,
                                     Executor& compute,
                                     crypto::RecordKey const& record_key,
                                     LocalTrainer& t,
                                     OptimizerOptions o)
    : host(h),
      runtime(h.runtime()),
      dht(d),
      trainer(t),
      options(std::move(o)),
      tracker(h, d, record_key, detail::tracker_options(options)),
      gradient_guard(numels(t.facts().parameters)),
      state_guard(numels(t.facts().state_averaging)),
      gradients(h,
                d,
                compute,
                detail::gradient_options(
                    options, t.facts(), tracker, [this] { return tracker.expected(); })),
      states(h,
             d,
             compute,
             detail::state_options(options, t.facts(), [this] { return state_expected(); })),
      sharing(h, d, compute, detail::sharing_options(options)),
      gradient_clock(options.averaging_timeout),
      state_clock(options.averaging_timeout),
      wake(runtime),
      scope(runtime) {
  // Our records under this run are signed, and malformed ones of others refused. The key outlives
  // the optimizer, so that it is only borrowed.
  std::shared_ptr<crypto::RecordKey const> const key(std::shared_ptr<void>(), &record_key);
  validators.push_back(dht.add_validator(std::make_shared<dht::RsaValidator>(key)));
  std::vector<dht::KeySchema> schemas{dht::progress_schema(options.run_id)};
  validators.push_back(
      dht.add_validator(std::make_shared<dht::SchemaValidator>(std::move(schemas))));
}

CollaborativeOptimizer::CollaborativeOptimizer(net::Host& host,
                                               dht::Dht& dht,
                                               Executor& compute,
                                               crypto::RecordKey const& record_key,
                                               LocalTrainer& trainer,
                                               OptimizerOptions options)
    : state_(std::make_unique<State>(host, dht, compute, record_key, trainer, std::move(options))) {
}

CollaborativeOptimizer::~CollaborativeOptimizer() = default;

void CollaborativeOptimizer::on_epoch(std::function<void(EpochReport const&)> f) {
  state_->on_epoch = std::move(f);
}

void CollaborativeOptimizer::between_epochs(std::function<Co<Status>(EpochReport const&)> f) {
  state_->between_epochs = std::move(f);
}

void CollaborativeOptimizer::on_trainer_given_up(std::function<void(Error const& why)> f) {
  state_->on_trainer_given_up = std::move(f);
}

void CollaborativeOptimizer::set_trainer_losses(int losses) noexcept {
  state_->trainer_losses = losses;
}

void CollaborativeOptimizer::on_trainer_losses(std::function<void(int losses)> f) {
  state_->on_trainer_losses = std::move(f);
}

Co<Status> CollaborativeOptimizer::run(std::int64_t epoch,
                                       std::function<bool(EpochReport const&)> stop_after) {
  return state_->run(epoch, std::move(stop_after));
}

void CollaborativeOptimizer::finish() noexcept {
  state_->finishing = true;
  state_->wake.notify_all();
}

void CollaborativeOptimizer::pause() noexcept {
  state_->paused = true;
}

void CollaborativeOptimizer::resume() noexcept {
  state_->paused = false;
  state_->wake.notify_all();
}

Co<void> CollaborativeOptimizer::close() {
  auto& s = *state_;
  // First of all, so that nobody waits for us in a round.
  bool const others = s.started && s.tracker.view().has_peers;
  s.tracker.set_silent(true);
  if (others && !s.joining && !s.paused) {
    s.say("averaging the state for the last time");
    s.begin_state_search(s.epoch);
    s.state_search_ends = s.runtime.now() + kLastAverage;
    co_await s.wait_for_last_group();
    // A search that found nobody who can reduce is over: another one would take a whole search's
    // time.
    if (!s.state_round->finished()) {
      auto const averaged = co_await s.average_state();
      if (!averaged) log::info("optim", "left without a last average: ", averaged.error().detail);
    }
  }
  s.say("leaving");
  s.gradient_round.reset();
  s.state_round.reset();
  co_await s.scope.close();
  co_await s.tracker.close();
  s.validators.clear();
  co_await s.gradients.close();
  co_await s.states.close();
  co_await s.sharing.close();
}

OptimizerStatus CollaborativeOptimizer::status() const {
  auto& s = *state_;
  OptimizerStatus status;
  status.phase = s.phase;
  status.epoch = s.epoch;
  auto view = s.tracker.view();
  status.swarm = std::move(view.progress);
  status.peers = std::move(view.peers);
  status.samples_this_epoch = s.samples;
  status.samples_per_second = s.tracker.samples_per_second();
  status.ignored_peers = status.swarm.ignored;
  for (auto const& [peer, why] : s.gradient_guard.distrusted())
    status.ignored_peers.push_back(cat(crypto::short_text(peer), ": ", why));
  for (auto const& [peer, why] : s.donors.refusals(s.runtime.now()))
    status.ignored_peers.push_back(cat(crypto::short_text(peer), ": ", why));
  return status;
}

}  // namespace waggle::optim
