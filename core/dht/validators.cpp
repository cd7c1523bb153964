// SPDX-License-Identifier: MIT
#include "core/dht/validators.hpp"

#include <algorithm>

namespace waggle::dht {

std::uint64_t Validators::add(std::shared_ptr<Validator> validator) {
  bool const rsa = dynamic_cast<RsaValidator const*>(validator.get()) != nullptr;
  auto const at = std::find_if(entries_.begin(), entries_.end(), [&](Entry const& e) {
    return e.validator->priority() < validator->priority();
  });
  entries_.insert(at, Entry{next_, std::move(validator), rsa});
  return next_++;
}

void Validators::remove(std::uint64_t number) {
  std::erase_if(entries_, [&](Entry const& e) { return e.number == number; });
}

Status Validators::validate(RecordView const& record) const {
  // The signature check costs most and is the same in every RsaValidator. It stands first: none has
  // a higher priority.
  WAGGLE_TRY_STATUS(verify_.validate(record));
  if (entries_.empty()) return ok();
  Bytes value = verify_.strip(record);
  for (auto const& entry : entries_) {
    if (entry.rsa) continue;
    RecordView const view{record.key, record.subkey, value, record.expiration};
    WAGGLE_TRY_STATUS(entry.validator->validate(view));
    value = entry.validator->strip(view);
  }
  return ok();
}

Bytes Validators::sign(RecordView const& record) const {
  Bytes value = to_bytes(record.value);
  // Not std::views::reverse: clang 14 cannot read libstdc++ 12's ranges.
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    value = entry->validator->sign({record.key, record.subkey, value, record.expiration});
  return value;
}

Bytes Validators::strip(RecordView const& record) const {
  Bytes value = verify_.strip(record);
  for (auto const& entry : entries_)
    if (!entry.rsa)
      value = entry.validator->strip({record.key, record.subkey, value, record.expiration});
  return value;
}

Found Validators::found(Id const& key, StoredValue const& stored, DhtTime now) const {
  Found out;
  if (auto const* value = stored.regular()) {
    out.regular = Timed{strip({key, regular_tag(), *value, stored.expiration}), stored.expiration};
    return out;
  }
  out.dictionary.emplace();
  for (auto const* item : stored.dictionary()->listed(now)) {
    auto const& [subkey, entry] = *item;
    out.dictionary->emplace(
        subkey, Timed{strip({key, subkey, entry.value, entry.expiration}), entry.expiration});
  }
  return out;
}

}  // namespace waggle::dht
