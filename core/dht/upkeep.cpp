// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/detail/state.hpp"
#include "core/dht/handover.hpp"

namespace waggle::dht {
namespace {

constexpr Duration kHandoverPause =
    std::chrono::seconds(60);  // between two to the same peer, whatever ids it names
constexpr std::size_t kMaxHandedPeers = 512;
constexpr std::size_t kMaxBackground =
    256;  // larger: a flood makes us flood; smaller: dead contacts stay longer
constexpr std::size_t kMaxHandoverItems = 1'000;
constexpr std::size_t kClockPeers = 5;
// Nodes that join at the same moment hardly know each other: they look again soon, then more and
// more rarely.
constexpr Duration kFirstRefresh = std::chrono::seconds(15);
constexpr int kRefreshGrowth = 4;
constexpr double kClockStep = 0.5;  // seconds

/// The pings of one bootstrap.
struct Pings {
  explicit Pings(Runtime& runtime) : changed(runtime) {}

  std::size_t running = 0;
  std::size_t answered = 0;
  bool unavailable = false;
  std::string failures;
  Signal changed;
};

}  // namespace

namespace {

template <class State>
Co<void> ping_initial(State& state, PeerId peer, TimePoint deadline, Pings& pings) {
  auto const answer =
      co_await state.ping(peer, !state.options.client_mode, State::Trust::chosen, deadline);
  if (answer) {
    ++pings.answered;
    if (!answer->available) pings.unavailable = true;
  } else {
    if (!pings.failures.empty()) pings.failures += "; ";
    pings.failures += cat(crypto::to_text(peer), ": ", answer.error().detail);
  }
  --pings.running;
  pings.changed.notify_all();
}

}  // namespace

Co<Status> Dht::State::bootstrap(std::vector<PeerId> peers, TimePoint deadline) {
  std::erase(peers, host.self());
  start_upkeep();
  if (peers.empty()) co_return ok();
  Pings pings(runtime);
  Scope pinging(runtime);
  pings.running = peers.size();
  for (auto const& peer : peers) pinging.spawn("ping", ping_initial(*this, peer, deadline, pings));
  TimePoint const begun = runtime.now();
  Status waited = ok();
  while (waited && pings.running > 0) {
    // The first answer may take its time; after it the others have what is left of one call's time.
    TimePoint const until =
        pings.answered > 0 ? std::min(deadline, begun + options.wait_timeout) : deadline;
    waited = co_await pings.changed.wait(until);
  }
  co_await pinging.close();
  if (!waited && waited.error().code == Errc::cancelled) co_return waited;
  if (pings.answered == 0)
    co_return Error{Errc::not_found,
                    cat("none of ", peers.size(), " initial peers answered: ", pings.failures)};
  if (!pings.failures.empty())
    log::info("dht", "initial peers that did not answer: ", pings.failures);
  if (pings.unavailable && !options.client_mode)
    log::warning("dht", "an initial peer could not call back: others may not reach this node");
  std::vector<Want> wants;
  wants.push_back({id, std::nullopt});
  auto const searched = co_await search(std::move(wants), 1, deadline);
  if (!searched) co_return searched.error();
  co_await measure_clock(deadline);
  co_return ok();
}

namespace {

template <class State>
Co<void> ping_for_clock(State& state, PeerId peer, TimePoint deadline) {
  (void)co_await state.ping(peer, false, State::Trust::chosen, deadline);
}

}  // namespace

Co<void> Dht::State::measure_clock(TimePoint deadline) {
  if (clock.samples() >= ClockOffset::kMinPeers) co_return;
  Scope pinging(runtime);
  TimePoint const until = std::min(deadline, runtime.now() + options.wait_timeout);
  for (auto const& contact : table.nearest(id, kClockPeers))
    pinging.spawn("clock", ping_for_clock(*this, contact.peer, until));
  (void)co_await pinging.join();
  co_await pinging.close();
}

void Dht::State::start_upkeep() {
  if (upkeep_runs || scope.cancelled() || options.refresh_interval <= Duration{0}) return;
  upkeep_runs = true;
  scope.spawn("upkeep", upkeep());
}

Co<void> Dht::State::upkeep() {
  Duration interval = std::min(kFirstRefresh, options.refresh_interval);
  for (bool own_turn = true;; own_turn = !own_turn) {
    // Spread, so that nodes that started together do not search together.
    double const pause = to_seconds(interval) * (0.75 + 0.5 * runtime.random_unit());
    auto const slept = co_await runtime.sleep_for(seconds(pause));
    if (!slept) co_return;
    if (table.size() == 0) continue;
    interval = std::min(kRefreshGrowth * interval, options.refresh_interval);
    Id target = id;
    if (!own_turn) {
      auto const range = table.stalest();
      Id random;
      runtime.fill_random(random.bytes);
      target = id_in_range(range.lower, range.depth, random);
      table.touch(target, runtime.now());
    }
    std::vector<Want> wants;
    wants.push_back({target, std::nullopt});
    TimePoint const deadline = runtime.now() + 20 * options.wait_timeout;
    auto const searched = co_await search(std::move(wants), 1, deadline);
    if (!searched) co_return;
    auto const& nearest = searched->front().nearest;
    if (nearest.empty()) continue;
    PeerId const peer = nearest[runtime.random_below(nearest.size())].peer;
    TimePoint const until = call_deadline(peer, kNoDeadline);
    (void)co_await ping(peer, false, Trust::chosen, until);  // one more sample of the clock
  }
}

void Dht::State::hand_over(Contact const& newcomer) {
  if (records.storage.size() == 0 || scope.cancelled()) return;
  TimePoint const now = runtime.now();
  if (auto const it = handed.find(newcomer.peer);
      it != handed.end() && now < it->second + kHandoverPause)
    return;
  auto keys = handover_keys(records.storage, table, newcomer.id, options.replicas, time());
  if (keys.empty()) return;
  if (handed.size() >= kMaxHandedPeers)
    std::erase_if(handed, [&](auto const& h) { return now >= h.second + kHandoverPause; });
  if (handed.size() >= kMaxHandedPeers) return;
  handed[newcomer.peer] = now;
  background("handover", send_over(newcomer, std::move(keys)));
}

Co<void> Dht::State::send_over(Contact newcomer, std::vector<Id> keys) {
  std::size_t k = 0;
  while (k < keys.size()) {
    std::vector<StoreItem> items;
    std::size_t bytes = 0;
    for (; k < keys.size() && items.size() < kMaxHandoverItems; ++k) {
      DhtTime const now = time();
      auto const* stored = records.storage.get(keys[k], now);
      if (!stored) continue;
      auto item = whole_item(keys[k], *stored, false, now);
      if (bytes > 0 && bytes + item.value.size() + 64 > kMaxAnswerBytes) break;
      bytes += item.value.size() + 64;
      items.push_back(std::move(item));
    }
    if (items.empty()) co_return;
    counters.handed_over += items.size();
    TimePoint const deadline = runtime.now() + 4 * options.wait_timeout;  // megabytes, perhaps
    auto const sent = co_await call_store(newcomer, std::move(items), deadline);
    if (!sent) co_return;
  }
}

Co<void> Dht::State::confirm(Contact contact) {
  if (!confirming.insert(contact.id).second) co_return;
  TimePoint const deadline = call_deadline(contact.peer, kNoDeadline);
  auto const answer = co_await ping(contact.peer, false, Trust::caller, deadline);
  confirming.erase(contact.id);
  bool const cancelled = !answer && answer.error().code == Errc::cancelled;
  bool const lives = answer && answer->node == contact.id;
  if (!cancelled && !lives) table.remove(contact.id);
}

Co<void> Dht::State::cache_at(Contact contact, std::vector<StoreItem> items) {
  TimePoint const deadline = call_deadline(contact.peer, kNoDeadline);
  (void)co_await call_store(contact, std::move(items), deadline);
}

void Dht::State::background(std::string_view name, Co<void> work) {
  // Dropped work is repeated by the next occasion: each of these only improves matters.
  if (scope.cancelled() || scope.size() >= kMaxBackground) return;
  scope.spawn(name, std::move(work));
}

DhtTime Dht::State::time() noexcept {
  double const unix_time = runtime.unix_time();
  double const base = unix_time - to_seconds(runtime.now().time_since_epoch());
  if (std::abs(base - clock_base) > kClockStep) {
    clock.stepped(base - clock_base);
    clock_base = base;
  }
  return unix_time + clock.applied();
}

}  // namespace waggle::dht
