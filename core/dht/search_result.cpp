// SPDX-License-Identifier: MIT
#include "core/dht/search_result.hpp"

#include <cmath>

namespace waggle::dht {

void SearchResult::offer(StoredValue candidate,
                         Id const& source,
                         DhtTime now,
                         std::optional<std::uint64_t> version) {
  if (finished()) return;
  DhtTime const expiration = candidate.expiration;
  if (!value_) {
    value_ = std::move(candidate);
    version_ = version;
    source_ = source;
    return;
  }
  auto* const mine = std::get_if<DictionaryValue>(&value_->value);
  if (auto const* theirs = candidate.dictionary(); mine && theirs) {
    for (auto const* item : theirs->listed(now))
      (void)mine->store(item->first, item->second.value, item->second.expiration, now);
    if (expiration <= value_->expiration) return;
    value_->expiration = expiration;
    source_ = source;
    return;
  }
  // nullopt orders before every version.
  bool const better =
      version > version_ || (version == version_ && expiration > value_->expiration);
  if (!better) return;
  value_ = std::move(candidate);
  version_ = version;
  source_ = source;
}

std::optional<StoredValue> read_found(Id const& key,
                                      FindResult const& result,
                                      Validators const& validators,
                                      DhtTime now) {
  if (result.type == FindResult::Type::not_found) return std::nullopt;
  if (!std::isfinite(result.expiration) || result.expiration < now) return std::nullopt;
  if (result.type == FindResult::Type::regular) {
    if (!validators.validate({key, regular_tag(), result.value, result.expiration}))
      return std::nullopt;
    return StoredValue{result.value, result.expiration};
  }
  auto decoded = DictionaryValue::decode(result.value);
  if (!decoded) return std::nullopt;
  DictionaryValue good;
  for (auto const* item : decoded->listed(now)) {
    auto const& [subkey, entry] = *item;
    if (!std::isfinite(entry.expiration)) continue;
    if (validators.validate({key, subkey, entry.value, entry.expiration}))
      (void)good.store(subkey, entry.value, entry.expiration, now);
  }
  if (good.entries().empty()) return std::nullopt;
  return StoredValue{std::move(good), result.expiration};
}

}  // namespace waggle::dht
