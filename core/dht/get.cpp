// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/dht/detail/state.hpp"
#include "core/dht/handover.hpp"

namespace waggle::dht {
namespace {

// hivemind's chunk_size: more keys in one question make answers large.
constexpr std::size_t kMaxQueriesPerCall = 16;
constexpr double kRefreshAhead = 5;  // seconds before a cached value ends
constexpr double kRefreshGain = 1;   // a refreshed value must live this much longer
constexpr std::size_t kMaxRefreshing = 64;
// Longer: a get may miss what was stored elsewhere shortly before it. Shorter: questions that come
// together search apart.
constexpr Duration kLatestShared = std::chrono::milliseconds(20);
// By which the deadline of a search may come before that of one who shares it.
constexpr Duration kShareSlack = std::chrono::seconds(1);

}  // namespace

Co<Result<std::vector<Found>>> Dht::State::get_many(std::vector<Id> keys,
                                                    Freshness freshness,
                                                    TimePoint deadline) {
  DhtTime const asked_at = time();
  double const sufficient =
      freshness == Freshness::any ? asked_at : std::numeric_limits<double>::infinity();
  std::map<Id, SearchResult> results;
  std::vector<Want> wants;
  std::vector<std::pair<Id, std::shared_ptr<Flight>>> shared;
  for (auto const& key : keys) {
    auto const [it, fresh] = results.try_emplace(key, sufficient);
    if (!fresh) continue;
    offer_local(it->second, key);
    if (!it->second.finished()) {
      if (auto flight = flight_for(key, freshness, deadline))
        shared.emplace_back(key, std::move(flight));
      else
        wants.push_back({key, it->second});
    } else if (records.cache.get(key, asked_at) && !records.storage.get(key, asked_at)) {
      refresh_before_end(key);
    }
  }
  if (!wants.empty()) {
    auto const searched = co_await fly(std::move(wants), results, freshness, deadline);
    if (!searched) co_return searched.error();
  }
  std::map<Id, Found> again;  // those whose search somebody else began and left
  for (auto const& [key, flight] : shared) {
    Status waited = ok();
    while (waited && !flight->ended) waited = co_await flight->done.wait(deadline);
    if (!waited && waited.error().code == Errc::cancelled) co_return waited.error();
    if (flight->result) {
      results.at(key) = *flight->result;
    } else if (flight->ended) {
      std::vector<Id> one{key};
      auto found = co_await get_many(std::move(one), freshness, deadline);
      if (!found) co_return std::move(found).error();
      again.emplace(key, std::move(found->front()));
    }
  }
  DhtTime const now = time();
  std::vector<Found> out;
  for (auto const& key : keys) {
    auto const other = again.find(key);
    auto const* value = results.at(key).value();
    if (other != again.end())
      out.push_back(other->second);
    else
      out.push_back(value ? validators.found(key, *value, now) : Found{});
  }
  co_return out;
}

// One that will end as well as our own would. For the latest value only one that began just now: an
// older one may have passed by the nodes that have been given something newer since.
std::shared_ptr<Dht::State::Flight> Dht::State::flight_for(Id const& key,
                                                           Freshness freshness,
                                                           TimePoint deadline) const {
  auto const found = flights.find(key);
  if (found == flights.end() || found->second->freshness != freshness) return nullptr;
  auto const& flight = found->second;
  bool const new_enough =
      freshness == Freshness::any || runtime.now() - flight->begun <= kLatestShared;
  bool const long_enough = flight->deadline >= deadline - kShareSlack;
  return new_enough && long_enough ? flight : nullptr;
}

Co<Status> Dht::State::fly(std::vector<Want> wants,
                           std::map<Id, SearchResult>& results,
                           Freshness freshness,
                           TimePoint deadline) {
  auto const root = static_cast<std::size_t>(std::sqrt(static_cast<double>(wants.size())));
  std::size_t const packed = std::clamp<std::size_t>(root, 1, kMaxQueriesPerCall);
  std::vector<std::pair<Id, std::shared_ptr<Flight>>> ours;
  for (auto const& want : wants) {
    auto flight = std::make_shared<Flight>(runtime);
    flight->freshness = freshness;
    flight->deadline = deadline;
    flights.insert_or_assign(want.key, flight);
    ours.emplace_back(want.key, std::move(flight));
  }
  auto answers = co_await search(std::move(wants), packed, deadline);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    auto const& [key, flight] = ours[i];
    if (answers) {
      cache_found(key, (*answers)[i]);
      results.at(key) = std::move(*(*answers)[i].result);
      flight->result = results.at(key);
    }
    flight->ended = true;
    flight->done.notify_all();
    if (auto const it = flights.find(key); it != flights.end() && it->second == flight)
      flights.erase(it);
  }
  if (!answers) co_return std::move(answers).error();
  co_return ok();
}

void Dht::State::offer_local(SearchResult& result, Id const& key) {
  DhtTime const now = time();
  if (auto const* stored = records.storage.get(key, now))
    result.offer(*stored, id, now, records.storage.version(key));
  if (auto const* cached = records.cache.get(key, now))
    result.offer(*cached, id, now, records.cache.version(key));
}

void Dht::State::put(Storage& storage, Id const& key, StoredValue const& value) {
  DhtTime const now = time();
  if (auto const* regular = value.regular()) {
    (void)storage.store(key, *regular, value.expiration, now);
    return;
  }
  for (auto const* item : value.dictionary()->listed(now))
    (void)storage.store_entry(key, item->first, item->second.value, item->second.expiration, now);
}

void Dht::State::cache_found(Id const& key, Answer const& answer) {
  auto const* value = answer.result->value();
  if (!value || answer.result->source() == id) return;
  DhtTime const now = time();
  auto const* local = records.best(key, now);
  if (local && local->expiration >= value->expiration) return;
  put(records.cache, key, *value);
  std::size_t sent = 0;
  for (auto const& contact : answer.nearest) {
    if (sent == options.cache_nearest) break;
    if (contact.id == answer.result->source()) continue;
    std::vector<StoreItem> items{whole_item(key, *value, true, now)};
    background("cache", cache_at(contact, std::move(items)));
    ++sent;
  }
}

void Dht::State::refresh_before_end(Id const& key) {
  auto const* cached = records.cache.get(key, time());
  if (!cached || refreshing.size() >= kMaxRefreshing || scope.cancelled()) return;
  if (!refreshing.insert(key).second) return;
  double const wait = std::clamp(cached->expiration - kRefreshAhead - time(), 0.0, 24 * 3600.0);
  background("refresh", refresh_cached(key, runtime.now() + seconds(wait)));
}

Co<void> Dht::State::refresh_cached(Id key, TimePoint at) {
  auto const slept = co_await runtime.sleep_until(at);
  if (slept) {
    auto const* cached = records.cache.get(key, time());
    double const sufficient = (cached ? cached->expiration : time()) + kRefreshGain;
    std::vector<Want> wants;
    wants.push_back({key, SearchResult(sufficient)});
    TimePoint const deadline = runtime.now() + 10 * options.wait_timeout;
    auto const answers = co_await search(std::move(wants), 1, deadline);
    if (answers) cache_found(key, answers->front());
  }
  refreshing.erase(key);
}

std::optional<std::uint64_t> Dht::State::certify(Id const& key, ByteView value) const {
  std::optional<std::uint64_t> best;
  for (auto const& [number, rule] : rules) best = std::max(best, rule->version(key, value));
  return best;
}

}  // namespace waggle::dht
