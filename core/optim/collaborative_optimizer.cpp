// SPDX-License-Identifier: MIT
#include "core/optim/collaborative_optimizer.hpp"

#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/rsa_validator.hpp"
#include "core/dht/schema_validator.hpp"
#include "core/optim/detail/averager_options.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

// How long a newcomer listens before it believes that it is the first.
constexpr Duration kListen = std::chrono::seconds(4);
constexpr Duration kListenPause = std::chrono::milliseconds(200);

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
  if (others && !s.joining && !s.paused) co_await s.average_last_state();
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
