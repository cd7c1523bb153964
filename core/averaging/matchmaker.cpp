// SPDX-License-Identifier: MIT
#include "core/averaging/matchmaker.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/averaging/detail/matchmaker_limits.hpp"
#include "core/averaging/group_key.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::averaging {

using namespace limits;

namespace {

Matchmaking::Settings settings_of(net::Host const& host, AveragerOptions const& options) {
  Matchmaking::Settings settings;
  settings.self = host.self();
  auto const hash = schema_hash(options.schema);
  settings.schema_hash = to_bytes(ByteView(hash));
  settings.client_mode = options.client_mode;
  settings.min_group_size = std::max<std::size_t>(2, options.min_group_size);
  settings.target_group_size = options.target_group_size;
  return settings;
}

}  // namespace

Matchmaker::Matchmaker(net::Host& host,
                       dht::Dht& dht,
                       Scope& background,
                       AveragerOptions const& options,
                       std::string const& bits)
    : host_(host),
      runtime_(host.runtime()),
      dht_(dht),
      background_(background),
      options_(options),
      bits_(bits),
      rpc_name_(cat(options.prefix, "::", options.class_name, ".rpc_join_group")),
      rules_(settings_of(host, options)),
      changed_(host.runtime()) {
}

dht::DhtTime Matchmaker::dht_time(TimePoint t) const {
  if (t == kNoDeadline) return dht_.time() + to_seconds(kLongest);
  return dht_.time() + to_seconds(t - runtime_.now());
}

TimePoint Matchmaker::time_point(dht::DhtTime t) const {
  auto const ahead = std::clamp(t - dht_.time(), 0.0, to_seconds(kLongest));
  // A hair later, so that the DHT's clock has passed `t` when we wake.
  return runtime_.now() + seconds(ahead) + std::chrono::microseconds(100);
}

dht::DhtTime Matchmaker::request_expiration(Search const& search) const {
  auto const scheduled = search.scheduled_time ? dht_time(*search.scheduled_time) : 0;
  return declaration(
      dht_.time(), scheduled, to_seconds(options_.min_matchmaking_time), dht_time(search.deadline));
}

void Matchmaker::silent(PeerId const& peer, bool mild) {
  if (silences_.size() >= kMaxSilences && !silences_.contains(peer)) silences_.clear();
  auto& silence = silences_[peer];
  silence.next = std::clamp(2 * silence.next, kFirstSilence, kLongestSilence);
  silence.until = runtime_.now() + silence.next;
  silence.mild = mild;
}

void Matchmaker::remember_connections() {
  if (met_.size() > kMaxSilences) met_.clear();
  for (auto const& peer : host_.peers()) met_.insert(peer.id);
}

bool Matchmaker::left_alone(PeerId const& peer) const {
  auto const silence = silences_.find(peer);
  if (silence == silences_.end() || runtime_.now() >= silence->second.until) return false;
  return !silence->second.mild || !host_.connected(peer);
}

Co<Result<std::shared_ptr<Group const>>> Matchmaker::find_group(Search search) {
  ++waiting_;
  while (busy_) {
    auto const waited = co_await changed_.wait(search.deadline);
    if (!waited) {
      --waiting_;
      if (waited.error().code == Errc::cancelled) co_return waited.error();
      co_return Error{Errc::not_found, "another search for a group took until the deadline"};
    }
  }
  --waiting_;
  busy_ = true;
  auto const key = GroupKey{options_.prefix, bits_}.text();
  rules_.begin(key, search.gather);
  began_ = runtime_.now();
  remember_connections();
  satisfied_since_.reset();
  last_ask_ = TimePoint{};

  Scope tasks(runtime_);
  tasks.spawn("poll", poll(key, search.deadline));
  auto group = co_await seek(search, tasks);
  if (group) met_.insert((*group)->members.begin(), (*group)->members.end());
  auto const declared = rules_.declared();
  rules_.end();
  changed_.notify_all();
  co_await tasks.close();
  if (declared != Matchmaking::kUndeclared) {
    // hivemind's way to take a declaration back: false, with the next expiration there is.
    auto const after = std::nextafter(declared, Matchmaking::kUndeclared);
    background_.spawn("undeclare", declare(key, after, false, runtime_.now() + kUndeclareTime));
  }
  busy_ = false;
  changed_.notify_all();
  co_return group;
}

Co<Result<std::shared_ptr<Group const>>> Matchmaker::seek(Search const& search, Scope& tasks) {
  for (;;) {
    auto const now = runtime_.now();
    if (rules_.group()) co_return rules_.group();
    if (search.left && search.left())
      co_return Error{Errc::cancelled, "nobody waits for the group any more"};
    if (now >= search.deadline)
      co_return Error{Errc::not_found,
                      cat("could not find a group in ",
                          to_seconds(now - began_),
                          " s; ",
                          rules_.queue().size(),
                          " others declared")};
    TimePoint until = search.deadline;
    if (!rules_.leader()) {
      if (!options_.client_mode && dht_.time() >= rules_.declared()) {  // our time to lead is up
        if (rules_.enough()) {
          auto const assembled = assemble();
          if (assembled) continue;
        }
        rules_.disband();
        rules_.declare(Matchmaking::kUndeclared);
      }
      if (!options_.client_mode && rules_.declared() == Matchmaking::kUndeclared)
        declare_now(tasks, search);
      if (may_close()) {
        auto const assembled = assemble();
        if (assembled) continue;
      }
      start_asking(tasks, search);
      if (!options_.client_mode) until = std::min(until, time_point(rules_.declared()));
      if (!asking_.empty()) until = std::min(until, runtime_.now() + kHedgeTick);
      if (!rules_.followers().empty()) until = std::min(until, runtime_.now() + kExpectedEvery);
    }
    auto const waited = co_await changed_.wait(until);
    if (!waited && waited.error().code == Errc::cancelled) co_return waited.error();
  }
}

void Matchmaker::declare_now(Scope& tasks, Search const& search) {
  auto expiration = std::max(request_expiration(search), dht_.time() + kShortestDeclaration);
  // The DHT keeps whatever expires last: ours must outlive what took the last declaration back.
  if (expiration <= last_declared_) expiration = last_declared_ + kShortestDeclaration;
  last_declared_ = expiration;
  rules_.declare(expiration);
  tasks.spawn("declare", declare(rules_.key(), expiration, true, search.deadline));
  changed_.notify_all();
}

bool Matchmaker::may_close() {
  if (rules_.followers().empty() || !rules_.enough()) {
    satisfied_since_.reset();
    return false;
  }
  if (rules_.full()) return true;
  if (!options_.expected) return false;
  auto const now = runtime_.now();
  auto expected = options_.expected().peers;
  // A live record of somebody whose connection is gone: give him a moment to come back, not the
  // whole window.
  if (now - began_ > kDisconnectedGrace)
    std::erase_if(expected, [&](PeerId const& peer) { return !host_.connected(peer); });
  if (!rules_.has_all(expected)) {
    satisfied_since_.reset();
    return false;
  }
  if (!satisfied_since_) satisfied_since_ = now;
  // Whoever declared and is connected, but is not known to be expected yet, is about to ask.
  bool const others =
      std::any_of(rules_.queue().begin(), rules_.queue().end(), [&](Candidate const& c) {
        return !rules_.has_all({c.peer}) && host_.connected(c.peer) && !left_alone(c.peer);
      });
  auto const linger = expected.empty() || others ? kLinger : Duration{};
  return now - std::max(*satisfied_since_, expected.empty() ? last_join_ : *satisfied_since_) >=
         linger;
}

Status Matchmaker::assemble() {
  std::array<std::byte, 32> noise;
  runtime_.fill_random(noise);
  auto const id = crypto::sha1(noise);
  auto const below = [&](std::uint64_t bound) { return runtime_.random_below(bound); };
  WAGGLE_TRY(auto const group, rules_.assemble(to_bytes(ByteView(id)), below));
  if (on_group) on_group(group);
  changed_.notify_all();
  return ok();
}

Co<void> Matchmaker::declare(std::string key,
                             dht::DhtTime expiration,
                             bool here,
                             TimePoint deadline) {
  dht::Record record;
  record.key = dht::Id::of_text(key);
  record.subkey = wire::Msgpack(to_bytes(host_.self().bytes())).encode();
  record.value = wire::Msgpack(here).encode();
  record.expiration = expiration;
  auto const until = std::min(deadline, runtime_.now() + kStoreTime);
  auto const stored = co_await dht_.store(std::move(record), until);
  if (!stored && stored.error().code != Errc::cancelled)
    log::debug("averaging", "declaring under ", key, ": ", stored.error().detail);
}

Co<void> Matchmaker::poll(std::string key, TimePoint deadline) {
  auto interval = kFirstPoll;
  auto const id = dht::Id::of_text(key);
  while (rules_.searching() && !rules_.group()) {
    if (rules_.leader()) {
      auto const waited = co_await changed_.wait(deadline);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
      if (!waited) break;
      interval = kFirstPoll;
      continue;
    }
    auto const until = std::min(deadline, runtime_.now() + kGetTime);
    auto const found = co_await dht_.get(id, dht::Freshness::latest, until);
    if (!found && found.error().code == Errc::cancelled) co_return;
    if (found) {
      std::vector<Candidate> entries;
      for (auto const& [subkey, timed] : found->dictionary.value_or(dht::Dictionary{})) {
        auto const name = wire::Msgpack::decode(subkey);
        auto const value = wire::Msgpack::decode(timed.value);
        if (!name || !value) continue;
        auto const* const raw = name->get<Bytes>();
        auto const* const here = value->get<bool>();
        auto const peer = raw != nullptr ? PeerId::from_bytes(*raw) : std::nullopt;
        if (peer && here != nullptr && *here) entries.push_back({*peer, timed.expiration});
      }
      rules_.listed(std::move(entries), dht_.time());
      changed_.notify_all();
    }
    auto const slept = co_await runtime_.sleep_until(std::min(deadline, runtime_.now() + interval));
    if (!slept || runtime_.now() >= deadline) co_return;
    interval = std::min(2 * interval, kSlowestPoll);
  }
}

}  // namespace waggle::averaging
