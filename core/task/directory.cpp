// SPDX-License-Identifier: MIT
#include "core/task/directory.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/log.hpp"
#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/task/detail/direct.hpp"
#include "core/task/detail/place.hpp"
#include "core/task/record_rule.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::task {
namespace {

using Key = std::pair<PeerId, std::string>;
using Opened = std::pair<TaskRecord, Bytes>;

// Longer keeps the record of a swarm that is gone; shorter costs calls. Waggle nodes refuse more
// than 24 h.
constexpr double kRecordSeconds = 6 * 3600;
constexpr Duration kKeepEvery = std::chrono::minutes(30);
constexpr Duration kKeepRetry = std::chrono::seconds(30);
constexpr Duration kKeepTimeout = std::chrono::seconds(60);
constexpr Duration kDirectTimeout = std::chrono::seconds(10);
// Connected peers that are asked directly.
constexpr std::size_t kMaxAsked = 8;
// What strangers write into dictionaries is read in this many records at most, so many a search.
constexpr std::size_t kMaxChecked = 512;
constexpr std::size_t kBatch = 64;

dht::Id place(Key const& key) {
  return dht::Id::of_text(TaskRecord::key_text(key.first, key.second));
}

/// A record that verifies, is the one asked for and is still valid.
std::optional<Opened> accept(Bytes envelope, Key const& key, double now) {
  auto record = TaskRecord::open(envelope, key.first, key.second);
  if (!record || (record->valid_until > 0 && record->valid_until < now)) return std::nullopt;
  return Opened(std::move(*record), std::move(envelope));
}

void take_newer(std::optional<Opened>& best, std::optional<Opened> other) {
  if (other && (!best || other->first.version > best->first.version)) best = std::move(other);
}

}  // namespace

struct Directory::State {
  struct Kept {
    TaskRecord record;
    Bytes envelope;
    bool listed;
  };

  explicit State(dht::Dht& d) : dht(d), scope(d.host().runtime()), changed(d.host().runtime()) {}

  Runtime& runtime() { return dht.host().runtime(); }

  std::optional<Bytes> lookup(std::string_view key_text) const;
  std::optional<Opened> own(Key const& key) const;
  Co<void> keep_loop();
  Co<Status> keep_all();
  Co<Status> learn_newer();
  Co<Status> list_all(std::vector<dht::Record>& records);
  Co<void> ask_one(PeerId peer, Key key, std::optional<Opened>& best);
  Co<Status> ask_connected(Key key, std::optional<Opened>& best, TimePoint deadline);
  /// Those of `keys` whose records verify, in order.
  Co<Result<std::vector<Opened>>> checked(std::vector<Key> keys, TimePoint deadline);

  dht::Dht& dht;
  Scope scope;
  Signal changed;
  bool dirty = false;
  std::map<Key, Kept> kept;
  net::Registration rule;
  std::shared_ptr<detail::DirectServer> server;
};

std::optional<Bytes> Directory::State::lookup(std::string_view key_text) const {
  for (auto const& [key, entry] : kept)
    if (TaskRecord::key_text(key.first, key.second) == key_text) return entry.envelope;
  return std::nullopt;
}

std::optional<Opened> Directory::State::own(Key const& key) const {
  auto const found = kept.find(key);
  if (found == kept.end()) return std::nullopt;
  return Opened(found->second.record, found->second.envelope);
}

Co<void> Directory::State::keep_loop() {
  TimePoint next = kNoDeadline;
  for (;;) {
    while (!dirty && runtime().now() < next) {
      auto const waited = co_await changed.wait(next);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
    }
    dirty = false;
    auto const done = co_await keep_all();
    if (!done && done.error().code == Errc::cancelled) co_return;
    if (!done)
      log::info("task", "records could not be stored, trying again: ", done.error().detail);
    next = kept.empty() ? kNoDeadline : runtime().now() + (done ? kKeepEvery : kKeepRetry);
  }
}

Co<Status> Directory::State::keep_all() {
  if (kept.empty()) co_return ok();
  WAGGLE_CO_TRY_STATUS(co_await learn_newer());
  double const now = dht.time();
  std::vector<dht::Record> records;
  for (auto at = kept.begin(); at != kept.end();) {
    auto const& [key, entry] = *at;
    if (entry.record.valid_until > 0 && entry.record.valid_until < now) {
      at = kept.erase(at);
      continue;
    }
    dht::Record record;
    record.key = place(key);
    record.value = detail::wrap(entry.envelope);
    record.expiration = now + kRecordSeconds;
    records.push_back(record);
    dht::Record claim;
    claim.key = dht::Id::of_text(detail::claims_text(key.second));
    claim.subkey = detail::subkey(key.first);
    claim.value = wire::Msgpack(true).encode();
    claim.expiration = now + kRecordSeconds;
    records.push_back(std::move(claim));
    ++at;
  }
  WAGGLE_CO_TRY_STATUS(co_await list_all(records));
  auto const deadline = runtime().now() + kKeepTimeout;
  auto const stored = co_await dht.store_many(std::move(records), deadline);
  if (!stored) co_return stored.error();
  bool const any = std::find(stored->begin(), stored->end(), true) != stored->end();
  if (!any && !stored->empty()) co_return Error{Errc::not_found, "no node took them"};
  co_return ok();
}

Co<Status> Directory::State::learn_newer() {
  std::vector<Key> keys;
  for (auto const& [key, entry] : kept) keys.push_back(key);
  auto const deadline = runtime().now() + kKeepTimeout;
  auto const found = co_await checked(std::move(keys), deadline);
  // Storing is still worth a try: the search may have failed because nobody is there yet.
  if (!found) co_return found.error().code == Errc::cancelled ? Status(found.error()) : ok();
  for (auto const& [record, envelope] : *found) {
    auto const mine = kept.find(Key(record.operator_id, record.prefix));
    if (mine == kept.end() || record.version <= mine->second.record.version) continue;
    mine->second.record = record;
    mine->second.envelope = envelope;
  }
  co_return ok();
}

Co<Status> Directory::State::list_all(std::vector<dht::Record>& records) {
  auto const key = dht::Id::of_text(detail::kDirectoryText);
  auto const deadline = runtime().now() + kKeepTimeout;
  auto const found = co_await dht.get(key, dht::Freshness::latest, deadline);
  if (!found && found.error().code == Errc::cancelled) co_return found.error();
  // What its operator listed, every keeper lists: a public task is to be found for as long as one
  // volunteer holds it.
  if (found && found->dictionary)
    for (auto& [place, entry] : kept) {
      auto const there = found->dictionary->find(detail::subkey(place.first));
      if (entry.listed || there == found->dictionary->end()) continue;
      auto const prefixes = detail::prefixes_in(there->second.value);
      entry.listed = std::find(prefixes.begin(), prefixes.end(), place.second) != prefixes.end();
    }
  std::map<PeerId, std::vector<std::string>> lists;
  for (auto const& [place, entry] : kept)
    if (entry.listed && !entry.record.ended) lists[place.first].push_back(place.second);
  for (auto& [operator_id, prefixes] : lists) {
    auto const subkey = detail::subkey(operator_id);
    // Other keepers of the same operator know other tasks of it: theirs stay.
    if (found && found->dictionary) {
      auto const there = found->dictionary->find(subkey);
      if (there != found->dictionary->end())
        for (auto& prefix : detail::prefixes_in(there->second.value))
          if (std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end() &&
              !kept.contains(Key(operator_id, prefix)))
            prefixes.push_back(std::move(prefix));
    }
    wire::Msgpack::Array list;
    for (auto const& prefix : prefixes)
      if (list.size() < detail::kMaxListedPrefixes) list.emplace_back(prefix);
    dht::Record record;
    record.key = key;
    record.subkey = subkey;
    record.value = wire::Msgpack(std::move(list)).encode();
    record.expiration = dht.time() + kRecordSeconds;
    records.push_back(std::move(record));
  }
  co_return ok();
}

Co<void> Directory::State::ask_one(PeerId peer, Key key, std::optional<Opened>& best) {
  auto const text = TaskRecord::key_text(key.first, key.second);
  auto const deadline = runtime().now() + kDirectTimeout;
  auto envelope = co_await detail::ask_directly(dht.host(), peer, text, deadline);
  if (envelope) take_newer(best, accept(std::move(*envelope), key, dht.time()));
}

Co<Status> Directory::State::ask_connected(Key key,
                                           std::optional<Opened>& best,
                                           TimePoint deadline) {
  Scope asking(runtime());
  std::size_t asked = 0;
  for (auto const& peer : dht.host().peers()) {
    auto const& protocols = peer.protocols;
    bool const serves =
        protocols.empty() ||
        std::find(protocols.begin(), protocols.end(), detail::kTaskProtocol) != protocols.end();
    if (!serves || asked == kMaxAsked) continue;
    ++asked;
    asking.spawn("task ask", ask_one(peer.id, key, best));
  }
  auto const joined = co_await asking.join(deadline);
  co_await asking.close();
  co_return joined;
}

Co<Result<std::vector<Opened>>> Directory::State::checked(std::vector<Key> keys,
                                                          TimePoint deadline) {
  std::vector<Opened> records;
  for (std::size_t from = 0; from < keys.size(); from += kBatch) {
    auto const end = std::min(keys.size(), from + kBatch);
    std::vector<dht::Id> places;
    for (std::size_t i = from; i < end; ++i) places.push_back(place(keys[i]));
    auto const found = co_await dht.get_many(std::move(places), dht::Freshness::latest, deadline);
    if (!found && (found.error().code == Errc::cancelled || records.empty()))
      co_return found.error();
    if (!found) break;
    for (std::size_t i = from; i < end; ++i) {
      std::optional<Opened> best;
      auto const& regular = (*found)[i - from].regular;
      auto envelope = regular ? detail::unwrap(regular->value) : std::nullopt;
      if (envelope) best = accept(std::move(*envelope), keys[i], dht.time());
      take_newer(best, own(keys[i]));
      if (best) records.push_back(std::move(*best));
    }
  }
  co_return std::move(records);
}

Directory::Directory(dht::Dht& dht) : state_(std::make_unique<State>(dht)) {
  auto* const state = state_.get();
  state->rule = dht.add_rule(std::make_shared<TaskRecordRule>());
  auto lookup = [state](std::string_view key_text) { return state->lookup(key_text); };
  state->server = std::make_shared<detail::DirectServer>(dht.host(), std::move(lookup));
  state->server->start();
  state->scope.spawn("task keep", state->keep_loop());
}

Directory::~Directory() = default;

Co<void> Directory::close() {
  co_await state_->server->close();
  co_await state_->scope.close();
  state_->rule.reset();
}

void Directory::keep_alive(TaskRecord record, Bytes envelope, bool listed) {
  Key const key(record.operator_id, record.prefix);
  auto const at = state_->kept.find(key);
  if (at != state_->kept.end()) {
    // Once listed it stays listed, whoever keeps it next.
    listed |= at->second.listed;
    at->second.listed = listed;
    if (at->second.record.version > record.version) return;
  }
  state_->kept.insert_or_assign(key, State::Kept{std::move(record), std::move(envelope), listed});
  state_->dirty = true;
  state_->changed.notify_all();
}

void Directory::stop_keeping(PeerId const& operator_id, std::string_view prefix) {
  state_->kept.erase(Key(operator_id, std::string(prefix)));
}

Co<Result<std::pair<TaskRecord, Bytes>>> Directory::find(PeerId operator_id,
                                                         std::string prefix,
                                                         TimePoint deadline) {
  auto* const state = state_.get();
  Key const key(operator_id, prefix);
  auto best = state->own(key);
  auto const found = co_await state->dht.get(place(key), dht::Freshness::latest, deadline);
  if (!found && found.error().code == Errc::cancelled) co_return found.error();
  if (found && found->regular) {
    auto envelope = detail::unwrap(found->regular->value);
    if (envelope) take_newer(best, accept(std::move(*envelope), key, state->dht.time()));
  }
  auto const asked = co_await state->ask_connected(key, best, deadline);
  if (!asked && asked.error().code == Errc::cancelled) co_return asked.error();
  if (best) co_return std::move(*best);
  if (!found) co_return found.error();
  co_return Error{
      Errc::not_found,
      cat("no record of ", prefix, " by ", crypto::to_text(operator_id), " that verifies")};
}

Co<Result<std::vector<PeerId>>> Directory::operators(std::string prefix, TimePoint deadline) {
  auto* const state = state_.get();
  auto const key = dht::Id::of_text(detail::claims_text(prefix));
  auto const found = co_await state->dht.get(key, dht::Freshness::latest, deadline);
  if (!found) co_return found.error();
  std::vector<Key> keys;
  for (auto const& [kept, entry] : state->kept)
    if (kept.second == prefix) keys.push_back(kept);
  if (found->dictionary)
    for (auto const& [subkey, value] : *found->dictionary) {
      auto const id = detail::operator_of(subkey);
      if (!id || keys.size() >= kMaxChecked) continue;
      Key claim(*id, prefix);
      if (std::find(keys.begin(), keys.end(), claim) == keys.end())
        keys.push_back(std::move(claim));
    }
  auto const records = co_await state->checked(std::move(keys), deadline);
  if (!records) co_return records.error();
  std::vector<PeerId> operators;
  for (auto const& [record, envelope] : *records) operators.push_back(record.operator_id);
  co_return std::move(operators);
}

Co<Result<std::vector<TaskRecord>>> Directory::listed(TimePoint deadline) {
  auto* const state = state_.get();
  auto const key = dht::Id::of_text(detail::kDirectoryText);
  auto const found = co_await state->dht.get(key, dht::Freshness::latest, deadline);
  if (!found) co_return found.error();
  std::vector<Key> keys;
  if (found->dictionary)
    for (auto const& [subkey, value] : *found->dictionary) {
      auto const id = detail::operator_of(subkey);
      if (!id) continue;
      for (auto& prefix : detail::prefixes_in(value.value))
        if (keys.size() < kMaxChecked) keys.emplace_back(*id, std::move(prefix));
    }
  auto const records = co_await state->checked(std::move(keys), deadline);
  if (!records) co_return records.error();
  std::vector<TaskRecord> listed;
  for (auto const& [record, envelope] : *records)
    if (!record.ended) listed.push_back(record);
  co_return std::move(listed);
}

}  // namespace waggle::task
