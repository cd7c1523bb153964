// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/dht/detail/state.hpp"
#include "core/dht/handover.hpp"

namespace waggle::dht {
namespace {

// Of the time a store has, this much goes to the search; the rest is for the nodes that it found.
constexpr double kSearchShare = 0.6;

Duration scaled(Duration d, double factor) {
  return seconds(to_seconds(d) * factor);
}

}  // namespace

/// All records of one key, and the nodes that may hold them.
struct Dht::State::Group {
  Id key;
  std::vector<std::size_t> items;   // indices
  std::vector<Contact> candidates;  // nearest first, ourselves among them
  std::size_t next = 0;
  std::size_t answered = 0;  // any answer counts, as in hivemind
};

/// One call to each of several nodes, at once.
struct Dht::State::Round {
  std::vector<StoreItem> const& items;
  std::vector<Group>& groups;
  std::vector<bool>& taken;
  TimePoint deadline;
};

Result<StoreItem> Dht::State::prepare(Record const& record) const {
  StoreItem item;
  item.key = record.key;
  item.expiration = record.expiration;
  item.tag = to_bytes(regular_tag());
  if (record.subkey) {
    WAGGLE_TRY(item.tag, normal_subkey(*record.subkey));
    if (is_regular_tag(item.tag)) return Error{Errc::refused, "nil cannot be a subkey"};
  }
  item.value = validators.sign({item.key, item.tag, record.value, item.expiration});
  auto const valid = validators.validate({item.key, item.tag, item.value, item.expiration});
  if (!valid) return Error{Errc::refused, cat("the record is invalid: ", valid.error().detail)};
  return item;
}

Co<Result<std::vector<bool>>> Dht::State::store_items(std::vector<StoreItem> items,
                                                      TimePoint deadline) {
  std::vector<bool> taken(items.size(), false);
  std::vector<Group> groups;
  std::map<Id, std::size_t> group_of;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto const [it, fresh] = group_of.try_emplace(items[i].key, groups.size());
    if (fresh) groups.push_back({items[i].key, {}, {}, 0, 0});
    groups[it->second].items.push_back(i);
  }
  std::vector<Want> wants;
  for (auto const& group : groups) wants.push_back({group.key, std::nullopt});
  auto const root = static_cast<std::size_t>(
      std::sqrt(static_cast<double>(std::max<std::size_t>(wants.size(), 1))));
  Duration const time_left =
      std::max(Duration{0}, std::min<Duration>(deadline - runtime.now(), std::chrono::hours(1)));
  TimePoint const search_until = runtime.now() + scaled(time_left, kSearchShare);
  auto found =
      co_await search(std::move(wants), std::clamp<std::size_t>(root, 1, 16), search_until);
  if (!found) co_return std::move(found).error();
  Contact const self{id, host.self()};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto& group = groups[g];
    group.candidates = std::move((*found)[g].nearest);
    if (options.client_mode) continue;
    auto const nearer = [&](Contact const& a, Contact const& b) {
      return distance(group.key, a.id) < distance(group.key, b.id);
    };
    auto const place =
        std::upper_bound(group.candidates.begin(), group.candidates.end(), self, nearer);
    group.candidates.insert(place, self);
  }

  Round round{items, groups, taken, deadline};
  for (;;) {
    std::map<PeerId, std::pair<Contact, std::vector<std::size_t>>> calls;  // peer → groups
    for (std::size_t g = 0; g < groups.size(); ++g) {
      auto& group = groups[g];
      std::size_t due = options.replicas > group.answered ? options.replicas - group.answered : 0;
      for (; due > 0 && group.next < group.candidates.size(); --due) {
        auto const& contact = group.candidates[group.next++];
        if (contact.id != id) {
          auto& call =
              calls.try_emplace(contact.peer, contact, std::vector<std::size_t>{}).first->second;
          call.second.push_back(g);
          continue;
        }
        DhtTime const now = time();
        for (auto const i : group.items)
          if (store_item(items[i], {}, records, validators, now) == StoreOutcome::stored)
            taken[i] = true;
        ++group.answered;
      }
    }
    if (calls.empty()) break;
    if (runtime.now() >= deadline) break;
    Scope sending(runtime);
    for (auto& [peer, call] : calls)
      sending.spawn("store", send_round(call.first, std::move(call.second), round));
    auto const joined = co_await sending.join();
    if (!joined) {
      co_await sending.close();
      co_return joined.error();
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    cache_stored(items[i], taken[i]);
    flights.erase(items[i].key);  // who asks from now on must find it
  }
  co_return taken;
}

Co<void> Dht::State::send_round(Contact contact, std::vector<std::size_t> which, Round& round) {
  // Several calls where one message would grow too large.
  std::size_t g = 0;
  while (g < which.size()) {
    std::vector<StoreItem> items;
    std::vector<std::size_t> indices;
    std::vector<std::size_t> sent;
    std::size_t bytes = 0;
    for (; g < which.size(); ++g) {
      auto const& group = round.groups[which[g]];
      std::size_t more = 0;
      for (auto const i : group.items)
        more += round.items[i].value.size() + round.items[i].tag.size() + 48;
      if (bytes > 0 && bytes + more > kMaxAnswerBytes) break;
      bytes += more;
      sent.push_back(which[g]);
      for (auto const i : group.items) {
        items.push_back(round.items[i]);
        indices.push_back(i);
      }
    }
    TimePoint const until = call_deadline(contact.peer, round.deadline);
    auto const response = co_await call_store(contact, std::move(items), until);
    if (!response) co_return;
    for (std::size_t i = 0; i < indices.size() && i < response->store_ok.size(); ++i)
      if (response->store_ok[i]) round.taken[indices[i]] = true;
    for (auto const group : sent) ++round.groups[group].answered;
  }
}

void Dht::State::cache_stored(StoreItem const& item, bool accepted) {
  DhtTime const now = time();
  bool const regular = is_regular_tag(item.tag);
  auto const* cached = records.cache.get(item.key, now);
  if (accepted && regular) {
    (void)records.cache.store(item.key, item.value, item.expiration, now);
  } else if (accepted && cached && cached->dictionary()) {
    (void)records.cache.store_entry(item.key, item.tag, item.value, item.expiration, now);
  } else if (!accepted && cached && cached->expiration <= item.expiration) {
    // Somebody holds something later than we know of.
    records.cache.erase(item.key);
  }
}

}  // namespace waggle::dht
