// SPDX-License-Identifier: MIT
// A session's time between two epochs: measuring on held-out data, saving, waiting for room to
// save.
#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/node/session/checkpoint.hpp"
#include "core/node/session/detail/state.hpp"

namespace waggle::node {
namespace {

constexpr Duration kCheckpointEvery =
    std::chrono::seconds(60);  // longer: a power cut loses more; shorter: disk for nothing
// Others wait in the round for whoever measures: all together at most this part of the time.
constexpr Duration kEvaluateEvery = std::chrono::seconds(10);
constexpr int kEvaluateShare = 50;
// Examples for a person who looks cost at most this part of the time; and a window shows no more.
constexpr int kExamplesShare = 200;
constexpr Duration kExamplesEvery = std::chrono::seconds(3);

}  // namespace

// Between two epochs the trainer is ours: the time to measure on held-out data and to save.
Co<Status> Session::State::measure_and_save(optim::EpochReport const& report) {
  auto const now = runtime().now();
  bool whole = std::exchange(measure_whole, false);
  // Peers take turns by their place in the group, so that one of them measures while the others
  // train on.
  bool const asked = options.until_accuracy.has_value();
  if (!whole && now >= next_evaluation && (asked || my_turn(report))) {
    auto measured = co_await trainer->evaluate(/*whole=*/false, now + kEvaluationTime);
    if (!measured && measured.error().code == Errc::cancelled)
      co_return std::move(measured).error();
    auto const peers = report.gradients ? std::ssize(report.gradients->group) : 1;
    auto const after = runtime().now();
    next_evaluation = after + std::max(kEvaluateEvery, kEvaluateShare * peers * (after - now));
    // Training is no worse for it: if the trainer is at fault, the next batch will tell.
    if (!measured) services.notice(cat("not measured: ", measured.error().detail));
    if (measured) take_measurement(report.epoch, *measured, Measured::sample);
    // What a sample promises is checked on the whole set before anybody leaves on it.
    whole =
        asked && measured && measured->accuracy && *measured->accuracy >= *options.until_accuracy;
  }
  if (whole) {
    auto measured = co_await trainer->evaluate(/*whole=*/true, runtime().now() + kEvaluationTime);
    if (!measured && measured.error().code == Errc::cancelled)
      co_return std::move(measured).error();
    if (!measured) services.notice(cat("not measured: ", measured.error().detail));
    if (measured) take_measurement(report.epoch, *measured, Measured::whole);
    target_reached =
        asked && measured && measured->accuracy && *measured->accuracy >= *options.until_accuracy;
  }
  WAGGLE_CO_TRY_STATUS(co_await make_examples(report.epoch));
  if (now - last_checkpoint > kCheckpointEvery) {
    last_checkpoint = now;
    auto saved = co_await save(report.epoch);
    if (!saved && saved.error().code == Errc::cancelled) co_return saved;
    if (!saved && saved.error().code == Errc::too_large) {
      wait_for_room(saved.error().detail, report.epoch);
    } else if (!saved) {
      services.notice(cat("the state could not be saved: ", saved.error().detail));
    }
  }
  co_return ok();
}

// Only while somebody looks. That none could be made is no reason to stop training.
Co<Status> Session::State::make_examples(std::int64_t epoch) {
  auto const before = runtime().now();
  if (before >= examples_until || before < next_examples) co_return ok();
  auto made = co_await trainer->examples(before + kEvaluationTime);
  auto const after = runtime().now();
  next_examples = after + std::max(kExamplesEvery, kExamplesShare * (after - before));
  if (!made) {
    if (made.error().code == Errc::cancelled) co_return std::move(made).error();
    log::info("node", "no example predictions: ", made.error().detail);
    co_return ok();
  }
  auto fresh = std::make_shared<Examples>();
  fresh->operator_id = view.operator_id;
  fresh->prefix = view.prefix;
  fresh->epoch = epoch;
  fresh->time = runtime().unix_time();
  fresh->labels = definition.data.labels;
  fresh->items = *std::move(made);
  examples = std::move(fresh);
  co_return ok();
}

// Training on would give what a power cut takes away: nothing is trained until it can be saved.
void Session::State::wait_for_room(std::string why, std::int64_t epoch) {
  bool const waiting = !disk_full.empty();
  say_disk_full(std::move(why));
  pause_or_train();
  if (!waiting) scope.spawn("wait for room", save_when_there_is_room(epoch));
}

Co<void> Session::State::save_when_there_is_room(std::int64_t epoch) {
  for (;;) {
    auto const slept = co_await runtime().sleep_for(kRoomEvery);
    if (!slept) co_return;
    if (!unsaved) break;
    auto state = unsaved;
    auto const saved = co_await save_checkpoint(services, found.record, std::move(state));
    if (saved) {
      checkpoint_epoch = epoch;
      break;
    }
    if (saved.error().code == Errc::cancelled) co_return;
    if (saved.error().code != Errc::too_large) {
      services.notice(cat("the state could not be saved: ", saved.error().detail));
      break;
    }
    say_disk_full(saved.error().detail);
    pause_or_train();
  }
  unsaved.reset();
  disk_full.clear();
  pause_or_train();
  events(events::state(services, view.state, "there is room again"));
}

bool Session::State::my_turn(optim::EpochReport const& report) const {
  if (!report.gradients || report.gradients->group.empty()) return true;
  auto group = report.gradients->group;
  std::sort(group.begin(), group.end());
  return group[static_cast<std::size_t>(report.epoch) % group.size()] == services.swarm().self();
}

void Session::State::take_measurement(std::int64_t epoch,
                                      Evaluation const& measured,
                                      Measured how) {
  view.test_loss = measured.loss;
  view.test_accuracy = measured.accuracy;
  events(events::evaluation(
      services, epoch, measured, how != Measured::sample, how == Measured::final));
}

Co<Status> Session::State::save(std::int64_t epoch) {
  if (epoch == checkpoint_epoch) co_return ok();
  WAGGLE_CO_TRY(auto state, co_await trainer->snapshot(epoch, runtime().now() + kEvaluationTime));
  auto kept = state;
  auto saved = co_await save_checkpoint(services, found.record, std::move(state));
  if (saved) checkpoint_epoch = epoch;
  bool const full = !saved && saved.error().code == Errc::too_large;
  unsaved = full ? std::move(kept) : nullptr;
  co_return saved;
}

}  // namespace waggle::node
