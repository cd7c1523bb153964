// SPDX-License-Identifier: MIT
#include "core/dht/dht.hpp"

#include "core/base/assert.hpp"
#include "core/dht/detail/state.hpp"

namespace waggle::dht {
namespace {

Id random_id(Runtime& runtime) {
  Id id;
  runtime.fill_random(id.bytes);
  return id;
}

StorageLimits cache_limits(std::size_t max_keys) {
  StorageLimits limits;
  limits.max_keys = max_keys;
  limits.max_sender_bytes = 2u << 20;
  limits.max_bytes = 8u << 20;
  return limits;
}

}  // namespace

Dht::State::State(net::Host& h, Options o)
    : host(h),
      runtime(h.runtime()),
      options(std::move(o)),
      id(random_id(runtime)),
      table(id, options.bucket_size, options.depth_modulo),
      records{Storage(), Storage(cache_limits(options.cache_size))},
      clock_base(runtime.unix_time() - to_seconds(runtime.now().time_since_epoch())),
      scope(runtime) {
}

Dht::Dht(net::Host& host, Options options)
    : state_(std::make_shared<State>(host, std::move(options))) {
  state_->serve();
}

Dht::~Dht() {
  state_->served.clear();
  state_->scope.cancel();
}

Co<void> Dht::close() {
  state_->served.clear();
  co_await state_->scope.close();
}

Co<Status> Dht::bootstrap(TimePoint deadline) {
  return state_->bootstrap(state_->options.initial_peers, deadline);
}

Co<Status> Dht::bootstrap(std::vector<PeerId> peers, TimePoint deadline) {
  return state_->bootstrap(std::move(peers), deadline);
}

Co<Result<bool>> Dht::store(Record record, TimePoint deadline) {
  auto item = state_->prepare(record);
  if (!item) co_return std::move(item).error();
  std::vector<StoreItem> items{std::move(*item)};
  auto stored = co_await state_->store_items(std::move(items), deadline);
  if (!stored) co_return std::move(stored).error();
  co_return stored->front();
}

Co<Result<std::vector<bool>>> Dht::store_many(std::vector<Record> records, TimePoint deadline) {
  std::vector<bool> out(records.size(), false);
  std::vector<StoreItem> items;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto item = state_->prepare(records[i]);
    if (!item) continue;
    items.push_back(std::move(*item));
    from.push_back(i);
  }
  auto const stored = co_await state_->store_items(std::move(items), deadline);
  if (!stored) co_return stored.error();
  for (std::size_t k = 0; k < from.size(); ++k) out[from[k]] = (*stored)[k];
  co_return out;
}

Co<Result<Found>> Dht::get(Id key, Freshness freshness, TimePoint deadline) {
  std::vector<Id> keys{key};
  auto found = co_await state_->get_many(std::move(keys), freshness, deadline);
  if (!found) co_return std::move(found).error();
  co_return std::move(found->front());
}

Co<Result<std::vector<Found>>> Dht::get_many(std::vector<Id> keys,
                                             Freshness freshness,
                                             TimePoint deadline) {
  return state_->get_many(std::move(keys), freshness, deadline);
}

Co<Result<std::vector<PeerId>>> Dht::find_nodes(Id target, TimePoint deadline) {
  std::vector<State::Want> wants;
  wants.push_back({target, std::nullopt});
  auto const found = co_await state_->search(std::move(wants), 1, deadline);
  if (!found) co_return found.error();
  std::vector<PeerId> peers;
  for (auto const& contact : found->front().nearest) peers.push_back(contact.peer);
  co_return peers;
}

net::Registration Dht::add_validator(std::shared_ptr<Validator> validator) {
  std::weak_ptr<State> const state = state_;
  auto const number = state_->validators.add(std::move(validator));
  return net::Registration([state, number] {
    if (auto const s = state.lock()) s->validators.remove(number);
  });
}

net::Registration Dht::add_rule(std::shared_ptr<RecordRule> rule) {
  std::weak_ptr<State> const state = state_;
  auto const number = state_->next_rule++;
  state_->rules.emplace(number, std::move(rule));
  auto const apply = [](State& s) {
    State* const raw = &s;
    Storage::Certify const certify = [raw](Id const& key, ByteView value) {
      return raw->certify(key, value);
    };
    s.records.storage.set_certify(certify);
    s.records.cache.set_certify(certify);
  };
  apply(*state_);
  return net::Registration([state, number, apply] {
    auto const s = state.lock();
    if (!s) return;
    s->rules.erase(number);
    apply(*s);
  });
}

DhtTime Dht::time() const noexcept {
  return state_->time();
}

double Dht::clock_offset() const noexcept {
  return state_->clock.measured();
}

std::size_t Dht::clock_samples() const noexcept {
  return state_->clock.samples();
}

Id const& Dht::id() const noexcept {
  return state_->id;
}

std::size_t Dht::table_size() const noexcept {
  return state_->table.size();
}

std::vector<PeerId> Dht::nearest(Id const& target, std::size_t k) const {
  std::vector<PeerId> out;
  for (auto const& contact : state_->table.nearest(target, k)) out.push_back(contact.peer);
  return out;
}

std::size_t Dht::stored_records() const noexcept {
  return state_->records.storage.size() + state_->records.cache.size();
}

std::size_t Dht::stored_bytes() const noexcept {
  return state_->records.storage.bytes() + state_->records.cache.bytes();
}

Counters const& Dht::counters() const noexcept {
  return state_->counters;
}

net::Host& Dht::host() const noexcept {
  return state_->host;
}

}  // namespace waggle::dht
