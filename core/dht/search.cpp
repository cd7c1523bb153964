// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/dht/detail/state.hpp"

namespace waggle::dht {

namespace {

// A question that is out for longer counts as no worker: a dead node would hold one for seconds.
constexpr Duration kSlow = std::chrono::seconds(1);

}  // namespace

/// One beam search: the machine, what it has found, and who waits for it.
struct Dht::State::Search {
  Search(State& s, std::vector<Want> w, Lookup l, TimePoint d)
      : wants(std::move(w)), lookup(std::move(l)), progress(s.runtime), deadline(d) {}

  std::vector<Want> wants;
  Lookup lookup;
  Signal progress;
  TimePoint deadline;

  /// Questions that are out, the oldest first.
  struct Flight {
    PeerId peer;
    TimePoint since;
    bool slow = false;
  };

  void sent(PeerId const& peer, TimePoint now) { flights.push_back({peer, now}); }

  void landed(PeerId const& peer) {
    auto const it =
        std::find_if(flights.begin(), flights.end(), [&](auto const& f) { return f.peer == peer; });
    if (it != flights.end()) {
      if (it->slow) lookup.set_extra_workers(--slow);
      flights.erase(it);
    }
    progress.notify_all();
  }

  /// Marks those that have become slow; when the next one will.
  TimePoint mark_slow(TimePoint now) {
    for (auto& flight : flights) {
      if (flight.slow) continue;
      if (now < flight.since + kSlow) return flight.since + kSlow;
      flight.slow = true;
      lookup.set_extra_workers(++slow);
    }
    return kNoDeadline;
  }

  std::vector<Flight> flights;
  std::size_t slow = 0;
};

Co<Result<std::vector<Dht::State::Answer>>> Dht::State::search(std::vector<Want> wants,
                                                               std::size_t queries_per_call,
                                                               TimePoint deadline) {
  std::vector<Id> queries;
  std::vector<Contact> start;
  for (auto const& want : wants) {
    queries.push_back(want.key);
    for (auto const& contact : table.nearest(want.key, options.beam_size)) start.push_back(contact);
  }
  LookupOptions const shape{options.beam_size, options.workers, queries_per_call};
  Search search(*this, std::move(wants), Lookup(std::move(queries), start, id, shape), deadline);
  for (std::size_t i = 0; i < search.wants.size(); ++i)
    if (search.wants[i].result && search.wants[i].result->finished()) search.lookup.finish(i);

  ++counters.searches;
  bool cancelled = false;
  Scope asking(runtime);
  for (;;) {
    TimePoint const next_slow = search.mark_slow(runtime.now());
    for (auto due = search.lookup.next(); due; due = search.lookup.next()) {
      search.sent(due->peer.peer, runtime.now());
      asking.spawn("find", ask(search, std::move(*due)));
    }
    if (search.lookup.done()) break;
    TimePoint const next_look =
        search.flights.empty() ? next_slow : std::min(next_slow, runtime.now() + kSlow);
    auto const waited = co_await search.progress.wait(std::min(search.deadline, next_look));
    if (waited || (waited.error().code == Errc::timeout && runtime.now() < search.deadline))
      continue;
    cancelled = waited.error().code == Errc::cancelled;
    break;
  }
  co_await asking.close();
  counters.search_calls += search.lookup.asked();
  counters.search_hops += search.lookup.hops();
  if (cancelled) co_return Error{Errc::cancelled, "search"};
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < search.wants.size(); ++i)
    answers.push_back({search.lookup.nearest(i), std::move(search.wants[i].result)});
  co_return answers;
}

Co<void> Dht::State::ask(Search& search, Lookup::Ask ask) {
  if (blacklist.contains(ask.peer.peer, runtime.now()) || ask.peer.peer == host.self()) {
    search.lookup.failed(ask);
    search.landed(ask.peer.peer);
    co_return;
  }
  std::vector<Id> keys;
  for (auto const i : ask.queries) keys.push_back(search.wants[i].key);
  TimePoint const deadline = call_deadline(ask.peer.peer, search.deadline);
  auto const response = co_await call_find(ask.peer, std::move(keys), deadline);
  if (!response) {
    if (response.error().code == Errc::cancelled) co_return;
    search.lookup.failed(ask);
    search.landed(ask.peer.peer);
    co_return;
  }
  DhtTime const now = time();
  std::vector<std::vector<Contact>> neighbours;
  for (std::size_t k = 0; k < ask.queries.size(); ++k) {
    auto const& found = response->results[k];
    auto& want = search.wants[ask.queries[k]];
    if (want.result) {
      if (auto value = read_found(want.key, found, validators, now)) {
        auto const version = value->regular() ? certify(want.key, *value->regular()) : std::nullopt;
        want.result->offer(std::move(*value), ask.peer.id, now, version);
        if (want.result->finished()) search.lookup.finish(ask.queries[k]);
      }
    }
    auto& nearby = neighbours.emplace_back();
    for (auto const& contact : found.nearest)
      if (contact.peer != host.self() && !blacklist.contains(contact.peer, runtime.now()))
        nearby.push_back(contact);
  }
  // Who answers under another id than it was listed with is not where the search thinks.
  bool const stands_there = response->node == ask.peer.id;
  search.lookup.answered(ask, neighbours);
  if (!stands_there) search.lookup.drop(ask.peer);
  search.landed(ask.peer.peer);
}

}  // namespace waggle::dht
