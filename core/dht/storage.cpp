// SPDX-License-Identifier: MIT
#include "core/dht/storage.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::dht {
namespace {

// A full store drops this much of the greediest sender at once, so that the walk over all items is
// rare.
constexpr std::size_t kDropBytes = 1u << 20;

}  // namespace

std::string_view name(StoreOutcome outcome) noexcept {
  switch (outcome) {
    case StoreOutcome::stored:
      return "stored";
    case StoreOutcome::older:
      return "older";
    case StoreOutcome::expired:
      return "expired";
    case StoreOutcome::too_far:
      return "too_far";
    case StoreOutcome::too_large:
      return "too_large";
    case StoreOutcome::quota:
      return "quota";
    case StoreOutcome::invalid:
      return "invalid";
  }
  return "unknown";
}

void Storage::set_certify(Certify certify) {
  certify_ = std::move(certify);
  for (auto& [key, item] : items_) {
    auto const* value = item.stored.regular();
    item.version = value && certify_ ? certify_(key, *value) : std::nullopt;
  }
}

StoreOutcome Storage::store(
    Id const& key, Bytes value, DhtTime expiration, DhtTime now, PeerId const& sender) {
  if (auto const no = refuse(value.size(), expiration, now)) return *no;
  expire(now);
  auto const version = certify_ ? certify_(key, value) : std::nullopt;
  auto it = items_.find(key);
  std::size_t freed = 0;
  if (it != items_.end()) {
    auto const& item = it->second;
    bool const later = expiration > item.stored.expiration;
    // nullopt orders before every version, so this is: higher version, or equal and later.
    if (version < item.version || (version == item.version && !later)) return StoreOutcome::older;
    if (auto const* old = item.stored.regular(); old && item.account == known_account(sender))
      freed = old->size() + kOverhead;
  }
  std::size_t const cost = value.size() + kOverhead;
  if (!make_room(sender, cost, freed, key)) return StoreOutcome::quota;
  it = items_.try_emplace(key).first;
  auto& item = it->second;
  release_all(item);
  item.account = account_of(sender);
  charge(item.account, cost);
  item.stored.value = std::move(value);
  item.dictionary_bytes = 0;
  item.version = version;
  item.placed = true;
  end_at(it, expiration);
  shrink();
  return StoreOutcome::stored;
}

StoreOutcome Storage::store_entry(Id const& key,
                                  Bytes subkey,
                                  Bytes value,
                                  DhtTime expiration,
                                  DhtTime now,
                                  PeerId const& sender) {
  if (auto const no = refuse(subkey.size() + value.size(), expiration, now)) return *no;
  expire(now);
  auto it = items_.find(key);
  std::size_t freed = 0;
  std::size_t held = 0;
  if (it != items_.end()) {
    auto& item = it->second;
    if (item.stored.regular()) {
      if (item.version || expiration <= item.stored.expiration) return StoreOutcome::older;
    } else {
      prune(item, now);
      held = item.dictionary_bytes;
      if (auto const* old = item.stored.dictionary()->find(subkey)) {
        if (old->expiration >= expiration) return StoreOutcome::older;
        std::size_t const bytes = subkey.size() + old->value.size() + kOverhead;
        held -= bytes;
        if (old->account == known_account(sender)) freed = bytes;
      }
    }
  }
  std::size_t const cost = subkey.size() + value.size() + kOverhead;
  if (held + cost > limits_.max_dictionary_bytes) return StoreOutcome::too_large;
  if (!make_room(sender, cost, freed, key)) return StoreOutcome::quota;
  it = items_.try_emplace(key).first;
  auto& item = it->second;
  if (!item.stored.dictionary()) {
    release_all(item);
    item.stored.value = DictionaryValue{};
    item.dictionary_bytes = 0;
    item.version.reset();
  }
  item.placed = true;
  auto& dictionary = std::get<DictionaryValue>(item.stored.value);
  if (auto const* old = dictionary.find(subkey)) {
    std::size_t const bytes = subkey.size() + old->value.size() + kOverhead;
    release(old->account, bytes);
    item.dictionary_bytes -= bytes;
  }
  auto const account = account_of(sender);
  charge(account, cost);
  item.dictionary_bytes += cost;
  (void)dictionary.store(std::move(subkey), std::move(value), expiration, now, account);
  end_at(it, dictionary.latest());
  shrink();
  return StoreOutcome::stored;
}

StoredValue const* Storage::get(Id const& key, DhtTime now) {
  expire(now);
  auto const it = items_.find(key);
  if (it == items_.end()) return nullptr;
  prune(it->second, now);
  return &it->second.stored;
}

std::optional<std::uint64_t> Storage::version(Id const& key) const {
  auto const it = items_.find(key);
  return it == items_.end() ? std::nullopt : it->second.version;
}

void Storage::erase(Id const& key) {
  if (auto const it = items_.find(key); it != items_.end()) remove(it);
}

void Storage::expire(DhtTime now) {
  while (!ends_.empty() && ends_.begin()->first < now) remove(items_.find(ends_.begin()->second));
}

std::vector<Id> Storage::keys(DhtTime now) {
  expire(now);
  std::vector<Id> out;
  out.reserve(items_.size());
  for (auto const& [key, item] : items_) out.push_back(key);
  return out;
}

std::size_t Storage::bytes_of(PeerId const& sender) const {
  auto const it = account_index_.find(sender);
  return it == account_index_.end() ? 0 : accounts_.at(it->second).bytes;
}

std::optional<StoreOutcome> Storage::refuse(std::size_t bytes,
                                            DhtTime expiration,
                                            DhtTime now) const {
  if (std::isnan(expiration) || expiration < now) return StoreOutcome::expired;
  if (expiration > now + limits_.max_ahead) return StoreOutcome::too_far;
  if (bytes > limits_.max_entry_bytes) return StoreOutcome::too_large;
  return std::nullopt;
}

std::optional<std::uint32_t> Storage::known_account(PeerId const& sender) const {
  if (sender.empty()) return 0;
  auto const it = account_index_.find(sender);
  if (it == account_index_.end()) return std::nullopt;
  return it->second;
}

std::uint32_t Storage::account_of(PeerId const& sender) {
  if (sender.empty()) return 0;
  auto const it = account_index_.find(sender);
  if (it != account_index_.end()) return it->second;
  auto const account = next_account_++;
  account_index_.emplace(sender, account);
  accounts_[account].sender = sender;
  return account;
}

void Storage::charge(std::uint32_t account, std::size_t bytes) {
  bytes_ += bytes;
  if (account == 0) return;
  auto& a = accounts_.at(account);
  a.bytes += bytes;
  ++a.values;
}

void Storage::release(std::uint32_t account, std::size_t bytes) {
  bytes_ -= bytes;
  if (account == 0) return;
  auto const it = accounts_.find(account);
  it->second.bytes -= bytes;
  if (--it->second.values > 0) return;
  account_index_.erase(it->second.sender);
  accounts_.erase(it);
}

bool Storage::make_room(PeerId const& sender,
                        std::size_t bytes,
                        std::size_t freed,
                        Id const& keep) {
  if (sender.empty()) return true;
  std::size_t const held = bytes_of(sender) - freed;
  if (held + bytes > limits_.max_sender_bytes) return false;
  for (int tries = 0; bytes_ - freed + bytes > limits_.max_bytes; ++tries) {
    auto const greediest =
        std::max_element(accounts_.begin(), accounts_.end(), [](auto const& a, auto const& b) {
          return a.second.bytes < b.second.bytes;
        });
    // Whoever already holds the most does not push others out.
    if (tries == 8 || greediest == accounts_.end() || greediest->second.bytes <= held + bytes)
      return false;
    drop_some_of(
        greediest->first, std::max(bytes, std::min(kDropBytes, limits_.max_bytes / 32)), keep);
  }
  return true;
}

void Storage::drop_some_of(std::uint32_t account, std::size_t bytes, Id const& keep) {
  std::size_t const target = bytes_ > bytes ? bytes_ - bytes : 0;
  for (auto it = items_.begin(); it != items_.end() && bytes_ > target;) {
    auto const here = it++;
    auto& item = here->second;
    if (here->first == keep) continue;
    if (item.stored.regular()) {
      if (item.account == account) remove(here);
      continue;
    }
    auto& dictionary = std::get<DictionaryValue>(item.stored.value);
    std::vector<Bytes> theirs;
    for (auto const& [subkey, entry] : dictionary.entries())
      if (entry.account == account) theirs.push_back(subkey);
    for (auto const& subkey : theirs) {
      std::size_t const freed = subkey.size() + dictionary.find(subkey)->value.size() + kOverhead;
      dictionary.erase(subkey);
      item.dictionary_bytes -= freed;
      release(account, freed);
    }
    if (dictionary.entries().empty()) remove(here);
  }
}

void Storage::release_all(Item const& item) {
  if (auto const* value = item.stored.regular()) {
    if (item.placed) release(item.account, value->size() + kOverhead);
    return;
  }
  for (auto const& [subkey, entry] : item.stored.dictionary()->entries())
    release(entry.account, subkey.size() + entry.value.size() + kOverhead);
}

void Storage::prune(Item& item, DhtTime now) {
  auto* dictionary = std::get_if<DictionaryValue>(&item.stored.value);
  if (!dictionary) return;
  dictionary->prune(now, [&](Bytes const& subkey, DictionaryValue::Entry const& entry) {
    std::size_t const bytes = subkey.size() + entry.value.size() + kOverhead;
    item.dictionary_bytes -= bytes;
    release(entry.account, bytes);
  });
}

void Storage::end_at(Items::iterator it, DhtTime expiration) {
  auto& stored = it->second.stored;
  ends_.erase({stored.expiration, it->first});
  stored.expiration = expiration;
  ends_.emplace(expiration, it->first);
}

void Storage::remove(Items::iterator it) {
  release_all(it->second);
  ends_.erase({it->second.stored.expiration, it->first});
  items_.erase(it);
}

void Storage::shrink() {
  while (items_.size() > limits_.max_keys) remove(items_.find(ends_.begin()->second));
}

}  // namespace waggle::dht
