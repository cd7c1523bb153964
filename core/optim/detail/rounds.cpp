// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/optim/detail/averager_options.hpp"
#include "core/optim/detail/optimizer_state.hpp"
#include "core/optim/gradient_mean.hpp"

namespace waggle::optim {

namespace {

// Beyond the leader's declared end: its BEGIN must reach us.
constexpr Duration kAfterDeclared = std::chrono::seconds(2);

// How late to a round a first batch may end, in seconds.
constexpr double kLatest = 5;

// How long to wait for somebody who was in the gradient round and does not come to this one.
constexpr Duration kStateGrace = std::chrono::seconds(1);
// An average of state that moves us further than so many of our last step is tried first.
constexpr double kFarSteps = 3;
// It may do so much worse on the test samples than the best of ours.
constexpr double kWorse = 1.5;
constexpr double kRounding = 1e-3;
constexpr Duration kProbeTime = std::chrono::minutes(10);

// Relative, of one value after it was sent.
double codec_error(compress::Policy const& policy, std::size_t numel) {
  switch (policy.for_tensor(numel)) {
    case compress::CompressionType::none:
      return 1e-5;
    case compress::CompressionType::float16:
    case compress::CompressionType::meanstd_16bit:
      return 2e-3;
    default:
      return 5e-2;
  }
}

bool sums_to_something(averaging::RoundReport const& report) {
  return std::any_of(report.weights.begin(), report.weights.end(), [](double w) { return w > 0; });
}

}  // namespace

bool CollaborativeOptimizer::State::state_due(std::int64_t next_epoch) const {
  return options.average_state_every > 0 && next_epoch % options.average_state_every == 0;
}

void CollaborativeOptimizer::State::begin_gradient_search(std::int64_t ending) {
  averaging::StepOptions step;
  step.user = detail::gradient_user(ending);
  step.weight = round_weight(samples, options.target_batch_size);
  auto const now = runtime.now();
  gradient_search_epoch = ending;
  gradient_round = gradients.begin(std::move(step), now + options.averaging_timeout);
  gradient_search_ends = now + options.matchmaking_time + kAfterDeclared;
  gradient_assembled.reset();
}

// Who was not there is not waited for a second time, neither in a group found meanwhile nor in a
// search in which it may be our leader.
void CollaborativeOptimizer::State::wait_no_more(std::span<PeerId const> missing) {
  if (missing.empty()) return;
  tracker.fell_silent(missing);
  for (auto const& peer : missing) state_attendance.missed(peer, dht.time());
  if (state_round) state_round->without(missing);
  if (!gradient_round) return;
  if (gradient_round->is_assembled())
    gradient_round->without(missing);
  else
    begin_gradient_search(gradient_search_epoch);
  // They may have joined the group that is being found before they fell silent.
  silent_meanwhile.assign(missing.begin(), missing.end());
}

void CollaborativeOptimizer::State::begin_state_search(std::int64_t next_epoch) {
  averaging::StepOptions step;
  step.user = next_epoch;
  auto const now = runtime.now();
  state_round = states.begin(std::move(step), now + options.averaging_timeout);
  state_search_ends = now + options.matchmaking_time + kAfterDeclared;
}

// Looking for a group begins ahead of time, as long before the epoch's end as recent searches took,
// so that it never sets the pace; a search that found nobody goes on into the next epoch.
void CollaborativeOptimizer::State::begin_searches(View const& view) {
  auto const now = runtime.now();
  if (gradient_round && !gradient_assembled && gradient_round->is_assembled())
    gradient_assembled = now;
  // The others ended an epoch that we were too slow for; its group is no use any more.
  bool const stale = gradient_assembled && view.progress.epoch > epoch &&
                     now > *gradient_assembled + gradients.options().sender_timeout;
  if (gradient_round && (stale || gradient_round->finished())) gradient_round.reset();
  if (!view.has_peers) {
    if (gradient_round && !gradient_assembled) gradient_round.reset();
    return;
  }
  if (gradient_round || leaves_searches_alone(view)) return;
  if (pending && pending->stage == Pending::Stage::gradients) return;
  double const left = view.progress.eta - view.progress_time;
  if (left > to_seconds(gradient_clock.lead(options.matchmaking_time))) return;
  begin_gradient_search(epoch);
}

// A batch that outlasts the epoch by far must not hold up the others' round: no group then.
bool CollaborativeOptimizer::State::leaves_searches_alone(View const& view) const {
  return samples == 0 && batch_seconds > view.progress.eta - view.progress_time + kLatest &&
         batch_seconds > 0;
}

averaging::Expected CollaborativeOptimizer::State::state_expected() {
  averaging::Expected expected;
  for (auto const& peer : gradient_group)
    if (peer != host.self() && host.connected(peer)) expected.peers.push_back(peer);
  if (gradient_group.empty()) expected = tracker.expected();
  std::erase_if(expected.peers,
                [this](PeerId const& peer) { return !state_attendance.expected(peer); });
  // They have the gradients as we do: who does not come now does not want to.
  auto const grace = std::max<Duration>(kStateGrace, 2 * gradient_clock.search());
  if (state_due_since && runtime.now() > *state_due_since + grace) expected.peers.clear();
  return expected;
}

// The group averages its state, too, without another search, where all its members say so;
// otherwise a group for that forms while the gradients are averaged. Where epochs are shorter than
// searches, the search for the next epoch's group begins now.
void CollaborativeOptimizer::State::prepare_next_rounds(averaging::Group const& group,
                                                        std::int64_t next_epoch) {
  if (detail::state_follows(group)) {
    // The group may agree on an epoch next to ours.
    if (state_due(next_epoch - 1) || state_due(next_epoch) || state_due(next_epoch + 1))
      state_round = states.follow(group);
  } else if (state_due(next_epoch)) {
    begin_state_search(next_epoch);
  }
  auto const rate = tracker.view().progress.samples_per_second;
  auto const epoch_takes = static_cast<double>(options.target_batch_size) / rate;
  if (to_seconds(gradient_clock.search()) > epoch_takes) begin_gradient_search(next_epoch);
}

/// On any failure `values` is our own mean again. Errors: cancelled.
Co<Result<GradientOutcome>> CollaborativeOptimizer::State::average_gradients(
    std::span<float> values, std::uint64_t count, std::int64_t next_epoch) {
  GradientOutcome outcome;
  std::vector<float> const kept(values.begin(), values.end());
  auto waited_for = tracker.expected().peers;
  if (!gradient_round || gradient_round->finished()) begin_gradient_search(next_epoch - 1);
  auto const round = std::move(gradient_round);
  auto const search_ends = gradient_search_ends;
  gradient_assembled.reset();
  gradient_group.clear();
  state_round.reset();

  auto const found = co_await round->assembled(std::max(search_ends, runtime.now()));
  // Known by now, if not when the search began: the leader waited for them, too.
  for (auto const& peer : tracker.expected().peers)
    if (std::find(waited_for.begin(), waited_for.end(), peer) == waited_for.end())
      waited_for.push_back(peer);
  if (found) {
    gradient_group = *found;
    for (auto const& peer : *found) state_attendance.news(peer, dht.time());
    round->without(std::exchange(silent_meanwhile, {}));
    if (options.delayed) tracker.came_along(*found);
    prepare_next_rounds(*round->group(), next_epoch);
  } else if (found.error().code == Errc::cancelled) {
    co_return found.error();
  }
  std::optional<Error> failure;
  if (!found) {
    failure = found.error();
  } else {
    auto const silence = gradient_clock.sender(options.matchmaking_time);
    gradients.set_timeouts(silence, 2 * silence);
    auto const deadline = runtime.now() + gradient_clock.all_reduce();
    auto const weight = round_weight(count, options.target_batch_size);
    auto ran = co_await round->run(values, weight, deadline);
    if (!ran) {
      failure = std::move(ran).error();
    } else {
      outcome.report = *std::move(ran);
    }
  }
  if (failure && failure->code == Errc::cancelled) co_return *std::move(failure);
  tracker.round_over(outcome.report ? &*outcome.report : nullptr, waited_for);
  if (outcome.report) {
    auto const& report = *outcome.report;
    gradient_clock.succeeded(report.matchmaking, report.all_reduce);
    wait_no_more(report.missing());
    if (!compress::all_finite(values))
      outcome.why = "the average was not finite";
    else if (report.group.size() < 2)
      outcome.why = "nobody joined";
    else if (report.fraction_averaged <= 0)
      outcome.why = "no part of the average came back";
    else if (count == 0 && (report.fraction_averaged < 1 || !sums_to_something(report)))
      outcome.why = "only a part of the average came back, and there is nothing of our own";
    if (outcome.why.empty()) {
      auto const weight = round_weight(count, options.target_batch_size);
      auto const known = gradient_guard.distrusted();
      auto const refused =
          gradient_guard.check_gradients(report, host.self(), weight, kept, values);
      for (auto const& r : refused)
        if (!known.contains(r.peer))
          log::warning(
              "optim", "what ", crypto::short_text(r.peer), " averaged is refused: ", r.why);
      if (count == 0 && !refused.empty())
        outcome.why = cat(refused.front().why, ", and there is nothing of our own");
    }
    outcome.averaged = outcome.why.empty();
  } else {
    gradient_clock.failed();
    outcome.why = failure->detail;
  }
  if (!outcome.averaged) {
    std::copy(kept.begin(), kept.end(), values.begin());
    log::info("optim", "epoch ", next_epoch - 1, ": on local gradients, ", outcome.why);
  }
  co_return outcome;
}

/// Begins a round unless one was, and gives the trainer the average. Errors: as Averager::step, and
/// those of the trainer.
Co<Result<averaging::RoundReport>> CollaborativeOptimizer::State::average_state() {
  auto const before = runtime.now() + options.averaging_timeout;
  WAGGLE_CO_TRY(auto values, co_await trainer.state_for_averaging(before));
  if (!compress::all_finite(values)) co_return Error{Errc::invalid, "our state is not finite"};
  auto const own = values;
  auto report = co_await run_state_round(values);
  if (!report) co_return report;
  auto const judged = co_await judge_state_average(*report, own, values);
  if (!judged) co_return judged.error();
  auto const until = runtime.now() + options.averaging_timeout;
  auto const loaded = co_await trainer.load_averaged_state(values, until);
  if (!loaded) co_return loaded.error();
  co_return report;
}

/// Takes back what cannot be an average, and an average that moves us far to where nothing was
/// learnt (a sender's lie moves everything alike). The trainer must be idle. Errors: refused, those
/// of the trainer.
Co<Status> CollaborativeOptimizer::State::judge_state_average(averaging::RoundReport const& report,
                                                              std::span<float const> own,
                                                              std::span<float> values) {
  std::size_t parameters = 0;
  for (auto const& tensor : trainer.facts().parameters) parameters += tensor.numel();
  // The parameters come first in both orders.
  std::span<float const> before;
  if (current && current->values.size() >= parameters && own.size() >= parameters)
    before = std::span(current->values).first(parameters);
  auto const error = codec_error(options.state_compression, own.size());
  auto const verdict = state_guard.check_state(report, host.self(), before, error, own, values);
  for (auto const& r : verdict.refused)
    log::info("optim", "kept our own of what ", crypto::short_text(r.peer), " averaged: ", r.why);
  if (verdict.steps <= kFarSteps || before.empty()) co_return ok();
  auto candidate = *current;
  std::copy_n(values.begin(), parameters, candidate.values.begin());
  auto const deadline = runtime.now() + kProbeTime;
  WAGGLE_CO_TRY(double const loss, co_await trainer.probe(candidate, deadline));
  std::copy_n(own.begin(), parameters, candidate.values.begin());
  WAGGLE_CO_TRY(double const best, co_await trainer.probe(candidate, deadline));
  if (std::isfinite(loss) && loss <= kWorse * best + kRounding) co_return ok();
  co_return Error{Errc::refused,
                  cat("the average of state is ",
                      verdict.steps,
                      " steps away and has a test loss of ",
                      loss,
                      ", ours was ",
                      best)};
}

/// `values` becomes the group's mean. Errors: as Averager::step; invalid: the mean is not finite.
Co<Result<averaging::RoundReport>> CollaborativeOptimizer::State::run_state_round(
    std::span<float> values) {
  if (!state_round || state_round->finished()) begin_state_search(epoch + 1);
  auto const round = std::move(state_round);
  auto const waited_for = state_expected().peers;
  state_due_since = runtime.now();
  auto const found = co_await round->assembled(std::max(state_search_ends, runtime.now()));
  state_due_since.reset();
  if (!found) {
    state_attendance.round(waited_for, {}, dht.time());
    if (found.error().code != Errc::cancelled) state_clock.failed();
    co_return found.error();
  }
  auto const silence = state_clock.sender(options.matchmaking_time);
  states.set_timeouts(silence, 2 * silence);
  auto const deadline = runtime.now() + state_clock.all_reduce();
  auto report = co_await round->run(values, 1.0, deadline);
  state_attendance.round(waited_for, *found, dht.time());
  if (report) wait_no_more(report->missing());
  if (!report) {
    if (report.error().code != Errc::cancelled) state_clock.failed();
    co_return std::move(report).error();
  }
  state_clock.succeeded(report->matchmaking, report->all_reduce);
  if (!compress::all_finite(values)) co_return Error{Errc::invalid, "the average is not finite"};
  co_return report;
}

}  // namespace waggle::optim
