// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/scope.hpp"
#include "core/dht/blacklist.hpp"
#include "core/dht/clock.hpp"
#include "core/dht/dht.hpp"
#include "core/dht/lookup.hpp"
#include "core/dht/messages.hpp"
#include "core/dht/routing_table.hpp"
#include "core/dht/search_result.hpp"
#include "core/dht/service.hpp"
#include "core/dht/validators.hpp"

namespace waggle::dht {

/// What the coroutines of one node share. calls.cpp: single calls, both directions; search.cpp: the
/// beam search; get.cpp, store.cpp: what users ask for; upkeep.cpp: what runs by itself; dht.cpp:
/// the door.
struct Dht::State : std::enable_shared_from_this<Dht::State> {
  State(net::Host& h, Options o);

  // calls.cpp
  void serve();
  [[nodiscard]] std::optional<Id> advertised() const;
  /// What one call may take: wait_timeout, twice that where a connection must be made first.
  [[nodiscard]] TimePoint call_deadline(PeerId const& peer, TimePoint deadline) const;
  /// Whether an answer may move our clock: not if the other side chose when and how often it is
  /// asked.
  enum class Trust : std::uint8_t { chosen, caller };
  [[nodiscard]] Co<Result<PingResponse>> ping(PeerId peer,
                                              bool validate,
                                              Trust trust,
                                              TimePoint deadline);
  [[nodiscard]] Co<Result<StoreResponse>> call_store(Contact contact,
                                                     std::vector<StoreItem> items,
                                                     TimePoint deadline);
  [[nodiscard]] Co<Result<FindResponse>> call_find(Contact contact,
                                                   std::vector<Id> keys,
                                                   TimePoint deadline);
  static Co<Result<Bytes>> on_ping(std::shared_ptr<State> self, PeerId caller, Bytes request);
  static Co<Result<Bytes>> on_store(std::shared_ptr<State> self, PeerId caller, Bytes request);
  static Co<Result<Bytes>> on_find(std::shared_ptr<State> self, PeerId caller, Bytes request);
  /// A node answered or called: into the table, with handover and a ping where due.
  void seen(Contact const& contact);
  /// A call to it failed: hidden until a ping says whether it lives.
  void unanswered(Contact const& contact, Error const& why);

  // search.cpp
  struct Want {
    Id key;
    std::optional<SearchResult> result;  ///< none: only the nodes near the key are wanted
  };

  struct Answer {
    std::vector<Contact> nearest;
    std::optional<SearchResult> result;
  };
  struct Search;
  /// Ends early, with what it has, at the deadline. Errors: cancelled.
  [[nodiscard]] Co<Result<std::vector<Answer>>> search(std::vector<Want> wants,
                                                       std::size_t queries_per_call,
                                                       TimePoint deadline);
  Co<void> ask(Search& search, Lookup::Ask ask);

  // get.cpp
  [[nodiscard]] Co<Result<std::vector<Found>>> get_many(std::vector<Id> keys,
                                                        Freshness freshness,
                                                        TimePoint deadline);

  /// A search for a key that others who ask for it meanwhile may wait for.
  struct Flight {
    explicit Flight(Runtime& runtime) : begun(runtime.now()), done(runtime) {}

    TimePoint begun;
    TimePoint deadline{};
    Freshness freshness{};
    std::optional<SearchResult> result;  ///< once it has ended well
    bool ended = false;
    Signal done;
  };

  [[nodiscard]] std::shared_ptr<Flight> flight_for(Id const& key,
                                                   Freshness freshness,
                                                   TimePoint deadline) const;
  [[nodiscard]] Co<Status> fly(std::vector<Want> wants,
                               std::map<Id, SearchResult>& results,
                               Freshness freshness,
                               TimePoint deadline);
  void offer_local(SearchResult& result, Id const& key);
  void put(Storage& storage, Id const& key, StoredValue const& value);
  void cache_found(Id const& key, Answer const& answer);
  void refresh_before_end(Id const& key);
  Co<void> refresh_cached(Id key, TimePoint at);
  [[nodiscard]] std::optional<std::uint64_t> certify(Id const& key, ByteView value) const;

  // store.cpp
  struct Group;
  struct Round;
  [[nodiscard]] Result<StoreItem> prepare(Record const& record) const;
  [[nodiscard]] Co<Result<std::vector<bool>>> store_items(std::vector<StoreItem> items,
                                                          TimePoint deadline);
  Co<void> send_round(Contact contact, std::vector<std::size_t> which, Round& round);
  void cache_stored(StoreItem const& item, bool accepted);

  // upkeep.cpp
  [[nodiscard]] Co<Status> bootstrap(std::vector<PeerId> peers, TimePoint deadline);
  Co<void> measure_clock(TimePoint deadline);
  Co<void> upkeep();
  void start_upkeep();
  void hand_over(Contact const& newcomer);
  Co<void> send_over(Contact newcomer, std::vector<Id> keys);
  Co<void> confirm(Contact contact);
  Co<void> cache_at(Contact contact, std::vector<StoreItem> items);
  void background(std::string_view name, Co<void> work);
  [[nodiscard]] DhtTime time() noexcept;

  // Fixed at construction.
  net::Host& host;
  Runtime& runtime;
  Options options;
  Id id;

  // Network thread.
  RoutingTable table;
  Records records;
  Validators validators;
  std::map<std::uint64_t, std::shared_ptr<RecordRule>> rules;
  std::uint64_t next_rule = 1;
  Blacklist blacklist;
  ClockOffset clock;
  double clock_base;  // Unix time less monotonic time, when last looked at
  Counters counters;
  std::set<Id> confirming;
  std::set<Id> refreshing;
  std::map<Id, std::shared_ptr<Flight>> flights;
  std::map<PeerId, TimePoint> handed;  // when a handover to this peer last began
  bool upkeep_runs = false;
  Scope scope;
  std::vector<net::Registration> served;
};

}  // namespace waggle::dht
