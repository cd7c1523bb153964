// SPDX-License-Identifier: MIT
// The last average of state before a peer leaves, with whoever still comes to it.
#include <algorithm>

#include "core/base/log.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

// One last average of state, at most.
constexpr Duration kLastAverage = std::chrono::seconds(5);
// Between two looks whether anybody will come to it.
constexpr Duration kLastLook = std::chrono::milliseconds(500);

}  // namespace

Co<void> CollaborativeOptimizer::State::average_last_state() {
  say("averaging the state for the last time");
  begin_state_search(epoch);
  state_search_ends = runtime.now() + kLastAverage;
  co_await wait_for_last_group();
  // A search that found nobody who can reduce is over: another one would take a whole search's
  // time.
  if (state_round->finished()) co_return;
  auto const averaged = co_await average_state();
  if (!averaged) log::info("optim", "left without a last average: ", averaged.error().detail);
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

}  // namespace waggle::optim
