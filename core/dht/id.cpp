// SPDX-License-Identifier: MIT
#include "core/dht/id.hpp"

#include <algorithm>

#include "core/crypto/hash.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::dht {

Id Id::of_text(std::string_view key) {
  return of_bytes(wire::Msgpack(key).encode());
}

Id Id::of_bytes(ByteView encoded) {
  return Id{crypto::sha1(encoded)};
}

std::optional<Id> Id::from_bytes(ByteView raw) noexcept {
  if (raw.size() != kBytes) return std::nullopt;
  Id id;
  std::copy(raw.begin(), raw.end(), id.bytes.begin());
  return id;
}

std::optional<Id> Id::from_wire(ByteView raw) noexcept {
  while (raw.size() > kBytes && raw.front() == std::byte{0}) raw = raw.subspan(1);
  if (raw.size() > kBytes) return std::nullopt;
  Id id;
  std::copy(raw.begin(), raw.end(), id.bytes.end() - static_cast<std::ptrdiff_t>(raw.size()));
  return id;
}

}  // namespace waggle::dht
