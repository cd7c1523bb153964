// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/averaging/averager.hpp"
#include "core/averaging/detail/averager_state.hpp"
#include "core/averaging/gather.hpp"
#include "core/base/assert.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

namespace {

// A search ends by itself at its deadline; this long after it nobody waits for its word any more.
constexpr Duration kEndOfSearch = std::chrono::seconds(1);

}  // namespace

TimePoint Averager::Round::State::patience(TimePoint until) const {
  return deadline == kNoDeadline ? until : std::min(until, deadline + kEndOfSearch);
}

Co<void> Averager::Round::State::search(std::shared_ptr<State> round) {
  auto const averager = round->averager;
  Gather gather;
  gather.mode = averager->options.client_mode ? PeerMode::client : PeerMode::node;
  gather.bandwidth =
      averager->options.client_mode ? std::optional(0.0) : averager->options.bandwidth;
  gather.user = round->options.user;
  Matchmaker::Search wanted;
  wanted.gather = gather.encode();
  wanted.scheduled_time = round->options.scheduled_time;
  wanted.deadline = round->deadline;
  wanted.left = [round] { return round->left; };
  auto group = co_await averager->matchmaker.find_group(std::move(wanted));
  if (!group) {
    round->failure = std::move(group).error();
  } else {
    round->reduce = averager->find((*group)->id);
    if (!round->reduce)
      round->failure = Error{Errc::not_found, "the group has nobody who can reduce"};
  }
  round->matchmaking = averager->runtime.now() - round->began;
  if (round->left && round->reduce) {
    round->reduce->abandon();
    co_await round->reduce->say_goodbye();
  }
  round->changed.notify_all();
}

Co<Status> Averager::Round::State::wait_for_group(TimePoint until) {
  while (!reduce && !failure) {
    auto waited = co_await changed.wait(until);
    if (!waited) co_return waited;
  }
  if (failure) co_return *failure;
  co_return ok();
}

Averager::Round::Round(std::shared_ptr<State> state) : state_(std::move(state)) {
}

Averager::Round::~Round() {
  auto& s = *state_;
  s.left = true;
  s.averager->matchmaker.wake();
  if (s.ran || !s.reduce || s.reduce->over()) return;
  s.reduce->abandon();
  if (s.averager->scope.cancelled()) return;
  // Keeps the group until the others know.
  auto goodbye = [](std::shared_ptr<AllReduce> reduce) -> Co<void> {
    co_await reduce->say_goodbye();
  };
  s.averager->scope.spawn("goodbye", goodbye(s.reduce));
}

Co<Result<std::vector<PeerId>>> Averager::Round::assembled(TimePoint deadline) {
  auto const state = state_;
  auto const found = co_await state->wait_for_group(state->patience(deadline));
  if (!found) {
    if (found.error().code == Errc::timeout) co_return Error{Errc::not_found, "no group yet"};
    co_return found.error();
  }
  co_return state->reduce->group().members;
}

bool Averager::Round::is_assembled() const noexcept {
  return state_->reduce != nullptr;
}

std::shared_ptr<Group const> Averager::Round::group() const noexcept {
  if (!state_->reduce) return nullptr;
  return {state_->reduce, &state_->reduce->group()};
}

std::vector<PeerId> RoundReport::missing() const {
  auto const among = [](std::vector<PeerId> const& peers, PeerId const& peer) {
    return std::find(peers.begin(), peers.end(), peer) != peers.end();
  };
  std::vector<PeerId> all;
  for (auto const& peer : banned)
    if (!among(refused, peer)) all.push_back(peer);
  for (auto const& peer : failed_reducers)
    if (!among(all, peer)) all.push_back(peer);
  return all;
}

void Averager::Round::without(std::span<PeerId const> absent) {
  if (!state_->reduce) return;
  for (auto const& peer : absent) state_->reduce->exclude(peer);
}

bool Averager::Round::finished() const noexcept {
  return state_->failure.has_value() || state_->ran;
}

Co<Result<RoundReport>> Averager::Round::run(std::span<float> values,
                                             double weight,
                                             TimePoint deadline) {
  auto const state = state_;
  WAGGLE_ASSERT(!state->ran, "a round runs once");
  if (!std::isfinite(weight) || weight < 0) co_return Error{Errc::invalid, cat("weight ", weight)};
  state->ran = true;
  auto const found = co_await state->wait_for_group(state->patience(deadline));
  if (!found) {
    state->left = true;
    state->averager->matchmaker.wake();
    if (found.error().code == Errc::timeout)
      co_return Error{Errc::not_found, "could not find a group in time"};
    co_return found.error();
  }
  auto report = co_await state->reduce->run(values, weight, deadline);
  if (report) report->matchmaking = state->matchmaking;
  co_return report;
}

}  // namespace waggle::averaging
