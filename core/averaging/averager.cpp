// SPDX-License-Identifier: MIT
#include "core/averaging/averager.hpp"

#include <algorithm>

#include "core/averaging/detail/averager_state.hpp"
#include "core/averaging/group_key.hpp"
#include "core/base/assert.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace waggle::averaging {

namespace {

// Streams that come before our own BEGIN_ALLREDUCE. More: a stranger's memory; fewer: a large
// group's first parts.
constexpr std::size_t kMaxEarlyStreams = 256;
constexpr std::size_t kMaxEarlyStreamsPerPeer = 2;
constexpr Duration kEarlyPatience = std::chrono::seconds(10);
// Groups kept after their round, so that late members are told rather than left waiting.
constexpr std::size_t kMaxPastGroups = 4;
// close() lets others fetch their last replies for this long: hivemind's shutdown_timeout.
constexpr Duration kLastReplies = std::chrono::seconds(5);

// Appended to a group's id; all members must hash the same.
constexpr std::string_view kFollowing = " follow";

}  // namespace

void Averager::State::on_group(std::shared_ptr<Group const> const& group) {
  bits = next_bits(bits, group->id, group->size(), group->self, options.target_group_size);
  add(group);
}

void Averager::State::add(std::shared_ptr<Group const> const& group) {
  auto fractions = group_fractions(*group, total_numel(options.schema));
  if (!fractions) {
    log::warning("averaging", "a group without reducers: ", fractions.error().detail);
    return;
  }
  std::size_t past = 0;
  for (auto i = groups.size(); i-- > 0;) {
    if (!groups[i]->over() || groups[i]->serving() > 0 || ++past <= kMaxPastGroups) continue;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
  }
  groups.push_back(
      std::make_shared<AllReduce>(host, compute, options, group, *std::move(fractions)));
  changed.notify_all();
}

std::shared_ptr<AllReduce> Averager::State::find(ByteView group_id) const {
  for (auto const& group : groups)
    if (equal(group->group().id, group_id)) return group;
  return nullptr;
}

Co<Status> Averager::State::serve_join(net::rpc::ServerCall& call) {
  if (closing) co_return Error{Errc::closed, "leaving"};
  ++active;
  auto outcome = co_await matchmaker.serve(call);
  --active;
  changed.notify_all();
  co_return outcome;
}

Co<Result<std::shared_ptr<AllReduce>>> Averager::State::await_group(PeerId caller, Bytes group_id) {
  auto found = find(group_id);
  if (found || !matchmaker.searching()) co_return found;
  if (early_total >= kMaxEarlyStreams || early[caller] >= kMaxEarlyStreamsPerPeer) co_return found;
  ++early_total;
  ++early[caller];
  auto const deadline = runtime.now() + kEarlyPatience;
  Status waited = ok();
  while (!found && waited && !closing && matchmaker.searching()) {
    waited = co_await changed.wait(deadline);
    found = find(group_id);
  }
  --early_total;
  if (--early[caller] == 0) early.erase(caller);
  if (!found && !waited && waited.error().code == Errc::cancelled)
    co_return std::move(waited).error();
  co_return found;
}

Co<Status> Averager::State::serve_aggregate(net::rpc::ServerCall& call) {
  if (closing) co_return Error{Errc::closed, "leaving"};
  ++active;
  Status outcome = ok();
  auto first = co_await call.receive(runtime.now() + options.sender_timeout);
  if (!first) {
    outcome = std::move(first).error();
  } else if (!*first) {
    outcome = Error{Errc::malformed, "no part was sent"};
  } else {
    auto const parsed = parse_averaging_data(**first);
    Bytes const id = parsed ? to_bytes(parsed->group_id) : Bytes{};
    auto found = co_await await_group(call.caller(), id);
    if (!found) {
      outcome = std::move(found).error();
    } else if (*found) {
      auto const reduce = *std::move(found);
      outcome = co_await reduce->serve(call, *std::move(*first));
    } else {
      auto const answer = averaging_message(MessageCode::bad_group_id, {});
      outcome = co_await call.send(answer, {}, runtime.now() + options.request_timeout);
    }
  }
  --active;
  changed.notify_all();
  co_return outcome;
}

Averager::Averager(net::Host& host, dht::Dht& dht, Executor& compute, AveragerOptions options)
    : state_(std::make_shared<State>(host, dht, compute, std::move(options))) {
  auto& s = *state_;
  WAGGLE_ASSERT(s.options.reducer_timeout > s.options.sender_timeout,
                "reducer_timeout must exceed sender_timeout");
  WAGGLE_ASSERT(parse_group_key(group_key()).value_or(GroupKey{}).prefix == s.options.prefix,
                group_key());
  s.matchmaker.on_group = [&s](std::shared_ptr<Group const> const& group) { s.on_group(group); };
  if (s.options.client_mode) return;
  auto const service = cat(s.options.prefix, "::", s.options.class_name);
  // Handlers keep the state, and close() waits for them.
  net::rpc::StreamHandler join = [state = state_](net::rpc::ServerCall& call) {
    return state->serve_join(call);
  };
  net::rpc::StreamHandler part = [state = state_](net::rpc::ServerCall& call) {
    return state->serve_aggregate(call);
  };
  s.registrations.push_back(
      net::rpc::serve_stream(host, service + ".rpc_join_group", std::move(join)));
  s.registrations.push_back(
      net::rpc::serve_stream(host, service + ".rpc_aggregate_part", std::move(part)));
}

Averager::~Averager() {
  WAGGLE_ASSERT(!state_ || state_->scope.size() == 0,
                "an Averager is closed before it is destroyed");
}

Co<void> Averager::close() {
  auto const state = state_;
  state->closing = true;
  state->registrations.clear();
  auto const deadline = state->runtime.now() + kLastReplies;
  auto const replying = [&] {
    return std::any_of(state->groups.begin(), state->groups.end(), [](auto const& g) {
      return g->serving() > 0 && g->started();
    });
  };
  Status waited = ok();
  while (waited && replying()) waited = co_await state->changed.wait(deadline);
  for (auto const& group : state->groups) group->abandon();
  state->matchmaker.wake();
  state->changed.notify_all();
  co_await state->scope.close();
  while (state->active > 0) {
    auto const left = co_await state->changed.wait();
    if (!left) break;
  }
}

std::unique_ptr<Averager::Round> Averager::begin(StepOptions options, TimePoint deadline) {
  auto round = std::make_shared<Round::State>(state_);
  round->options = std::move(options);
  round->deadline = deadline;
  round->began = state_->runtime.now();
  if (state_->closing) {
    round->failure = Error{Errc::cancelled, "the averager is closed"};
  } else {
    state_->scope.spawn("search", Round::State::search(round));
  }
  return std::unique_ptr<Round>(new Round(std::move(round)));
}

std::unique_ptr<Averager::Round> Averager::follow(Group const& group) {
  auto round = std::make_shared<Round::State>(state_);
  round->deadline = kNoDeadline;
  round->began = state_->runtime.now();
  if (state_->closing) {
    round->failure = Error{Errc::cancelled, "the averager is closed"};
  } else {
    Bytes text = group.id;
    append(text, as_bytes(kFollowing));
    auto const id = crypto::sha1(text);
    auto following = std::make_shared<Group>(group);
    following->id = to_bytes(ByteView(id));
    state_->add(following);
    round->reduce = state_->find(following->id);
    if (!round->reduce)
      round->failure = Error{Errc::not_found, "the group has nobody who can reduce"};
  }
  return std::unique_ptr<Round>(new Round(std::move(round)));
}

Co<Result<RoundReport>> Averager::step(std::span<float> values,
                                       StepOptions options,
                                       TimePoint deadline) {
  auto const weight = options.weight;
  auto const round = begin(std::move(options), deadline);
  co_return co_await round->run(values, weight, deadline);
}

AveragerOptions const& Averager::options() const noexcept {
  return state_->options;
}

void Averager::set_timeouts(Duration sender, Duration reducer) noexcept {
  WAGGLE_ASSERT(reducer > sender, "reducer_timeout must exceed sender_timeout");
  state_->options.sender_timeout = sender;
  state_->options.reducer_timeout = reducer;
}

std::string Averager::group_key() const {
  return GroupKey{state_->options.prefix, state_->bits}.text();
}

}  // namespace waggle::averaging
