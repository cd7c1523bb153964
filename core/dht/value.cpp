// SPDX-License-Identifier: MIT
#include "core/dht/value.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::dht {
namespace {

using wire::Msgpack;

constexpr std::int8_t kDictionaryExt = 0x50;
constexpr std::array<std::byte, 1> kRegularTag{std::byte{0xc0}};

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("dictionary value: ", what)};
}

/// One msgpack head: how many bytes follow it directly, how many values.
struct Head {
  std::size_t size = 1;      // of the head itself
  std::uint64_t bytes = 0;   // of payload behind it
  std::uint64_t values = 0;  // nested values behind it
  bool array = false;
  bool ext = false;
};

template <class U>
Result<std::uint64_t> length_field(ByteView in) {
  if (in.size() < 1 + sizeof(U)) return malformed("a length field is cut off");
  return std::uint64_t{load_be<U>(in.subspan(1))};
}

template <class U>
Result<Head> sized(ByteView in, bool ext) {
  WAGGLE_TRY(auto const n, length_field<U>(in));
  return Head{1 + sizeof(U) + (ext ? 1u : 0u), n, 0, false, ext};
}

template <class U>
Result<Head> counted(ByteView in, bool map) {
  WAGGLE_TRY(auto const n, length_field<U>(in));
  return Head{1 + sizeof(U), 0, map ? 2 * n : n, !map, false};
}

Result<Head> read_head(ByteView in) {
  if (in.empty()) return malformed("it is cut off");
  auto const b = std::to_integer<std::uint8_t>(in[0]);
  if (b <= 0x7f || b >= 0xe0) return Head{};
  if (b <= 0x8f) return Head{1, 0, 2u * (b & 0x0fu), false, false};
  if (b <= 0x9f) return Head{1, 0, b & 0x0fu, true, false};
  if (b <= 0xbf) return Head{1, b & 0x1fu, 0, false, false};
  switch (b) {
    case 0xc1:
      return malformed("0xc1 starts no value");
    case 0xc4:
    case 0xd9:
      return sized<std::uint8_t>(in, false);
    case 0xc5:
    case 0xda:
      return sized<std::uint16_t>(in, false);
    case 0xc6:
    case 0xdb:
      return sized<std::uint32_t>(in, false);
    case 0xc7:
      return sized<std::uint8_t>(in, true);
    case 0xc8:
      return sized<std::uint16_t>(in, true);
    case 0xc9:
      return sized<std::uint32_t>(in, true);
    case 0xcc:
    case 0xd0:
      return Head{1, 1, 0, false, false};
    case 0xcd:
    case 0xd1:
      return Head{1, 2, 0, false, false};
    case 0xca:
    case 0xce:
    case 0xd2:
      return Head{1, 4, 0, false, false};
    case 0xcb:
    case 0xcf:
    case 0xd3:
      return Head{1, 8, 0, false, false};
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return Head{2, std::uint64_t{1} << (b - 0xd4), 0, false, true};
    case 0xdc:
      return counted<std::uint16_t>(in, false);
    case 0xdd:
      return counted<std::uint32_t>(in, false);
    case 0xde:
      return counted<std::uint16_t>(in, true);
    case 0xdf:
      return counted<std::uint32_t>(in, true);
    default:
      return Head{};  // nil, false, true
  }
}

/// Walks over a message piece by piece, so that a dictionary of two million nils costs no memory.
class Cursor {
 public:
  explicit Cursor(ByteView in) : in_(in) {}

  [[nodiscard]] bool empty() const noexcept { return in_.empty(); }

  Result<ByteView> value() {
    WAGGLE_TRY(auto const n, msgpack_length(in_));
    return take(n);
  }

  Result<std::uint64_t> array() {
    WAGGLE_TRY(auto const head, read_head(in_));
    if (!head.array) return malformed("an array is missing");
    in_ = in_.subspan(head.size);
    return head.values;
  }

  Result<double> number() {
    WAGGLE_TRY(auto const raw, value());
    WAGGLE_TRY(auto const decoded,
               Msgpack::decode(raw.first(std::min<std::size_t>(raw.size(), 16))));
    auto const n = decoded.number();
    if (!n) return malformed("a number is missing");
    return *n;
  }

  Result<ByteView> bin() {
    WAGGLE_TRY(auto const raw, value());
    auto const first = std::to_integer<std::uint8_t>(raw[0]);
    if (first < 0xc4 || first > 0xc6) return malformed("a value is not bin");
    return raw.subspan(first == 0xc4 ? 2 : first == 0xc5 ? 3 : 5);
  }

 private:
  ByteView take(std::size_t n) {
    auto const taken = in_.first(n);
    in_ = in_.subspan(n);
    return taken;
  }

  ByteView in_;
};

void append_float(Bytes& out, double value) {
  append(out, Msgpack(value).encode());
}

void append_array_head(Bytes& out, std::size_t n) {
  if (n <= 15) {
    out.push_back(static_cast<std::byte>(0x90 | n));
  } else if (n <= 0xffff) {
    std::array<std::byte, 3> head{std::byte{0xdc}};
    store_be(MutableBytes(head).subspan(1), static_cast<std::uint16_t>(n));
    append(out, head);
  } else {
    std::array<std::byte, 5> head{std::byte{0xdd}};
    store_be(MutableBytes(head).subspan(1), static_cast<std::uint32_t>(n));
    append(out, head);
  }
}

}  // namespace

ByteView regular_tag() noexcept {
  return kRegularTag;
}

bool is_regular_tag(ByteView tag) noexcept {
  return equal(tag, kRegularTag);
}

Result<std::size_t> msgpack_length(ByteView in) {
  // `open` values are still to come; each takes at least one byte, so the loop ends with the bytes.
  std::size_t at = 0;
  for (std::uint64_t open = 1; open > 0;) {
    WAGGLE_TRY(auto const head, read_head(in.subspan(at)));
    if (head.size > in.size() - at || head.bytes > in.size() - at - head.size)
      return malformed("a value is cut off");
    at += head.size + static_cast<std::size_t>(head.bytes);
    open += head.values;
    --open;
    if (open > in.size() - at) return malformed("more values are announced than bytes are left");
  }
  return at;
}

Result<Bytes> normal_subkey(ByteView tag) {
  WAGGLE_TRY(auto const decoded, Msgpack::decode(tag));
  return decoded.encode();
}

Result<DictionaryValue> DictionaryValue::decode(ByteView encoded, std::size_t max_subkey) {
  WAGGLE_TRY(auto const head, read_head(encoded));
  if (!head.ext || encoded.size() < head.size ||
      encoded[head.size - 1] != std::byte{kDictionaryExt})
    return malformed("it is not ext 0x50");
  if (head.bytes != encoded.size() - head.size) return malformed("its length is wrong");
  Cursor in(encoded.subspan(head.size));
  WAGGLE_TRY(auto const parts, in.array());
  if (parts != 3) return malformed(cat(parts, " parts instead of 3"));
  WAGGLE_TRY(auto const max_size, in.number());
  (void)max_size;  // a limit of the sender's, who keeps it
  WAGGLE_TRY(auto const latest, in.number());
  if (std::isnan(latest)) return malformed("its expiration is not a number");
  WAGGLE_TRY(auto const count, in.array());
  DictionaryValue out;
  for (std::uint64_t i = 0; i < count; ++i) {
    WAGGLE_TRY(auto const fields, in.array());
    if (fields != 3) return malformed(cat("an entry has ", fields, " fields instead of 3"));
    WAGGLE_TRY(auto const raw, in.value());
    if (raw.size() > max_subkey)
      return Error{Errc::too_large,
                   cat("a subkey has ", raw.size(), " bytes, the limit is ", max_subkey)};
    WAGGLE_TRY(auto subkey, normal_subkey(raw));
    WAGGLE_TRY(auto const value, in.bin());
    WAGGLE_TRY(auto const expiration, in.number());
    if (std::isnan(expiration)) return malformed("an entry's expiration is not a number");
    (void)out.store(std::move(subkey), to_bytes(value), expiration, kNever);
  }
  if (!in.empty()) return malformed("bytes are left over");
  out.latest_ = latest;
  return out;
}

Bytes DictionaryValue::encode(DhtTime now) const {
  auto const items = listed(now);
  Bytes payload{std::byte{0x93}};
  append_float(payload, std::numeric_limits<double>::infinity());
  append_float(payload, latest_);
  append_array_head(payload, items.size());
  for (auto const* item : items) {
    payload.push_back(std::byte{0x93});
    append(payload, item->first);
    append(payload, Msgpack(item->second.value).encode());
    append_float(payload, item->second.expiration);
  }
  return Msgpack(Msgpack::Ext{kDictionaryExt, std::move(payload)}).encode();
}

bool DictionaryValue::store(
    Bytes subkey, Bytes value, DhtTime expiration, DhtTime now, std::uint32_t account) {
  latest_ = std::max(latest_, expiration);
  if (expiration < now) return false;
  auto const [it, fresh] = entries_.try_emplace(std::move(subkey));
  auto& entry = it->second;
  if (fresh || entry.expiration < now)  // an expired entry gives up its place in the listing too
    entry.order = next_order_++;
  else if (entry.expiration >= expiration)
    return false;
  entry.value = std::move(value);
  entry.expiration = expiration;
  entry.account = account;
  earliest_ = std::min(earliest_, expiration);
  return true;
}

void DictionaryValue::erase(ByteView subkey) {
  entries_.erase(to_bytes(subkey));
}

std::vector<DictionaryValue::Entries::const_pointer> DictionaryValue::listed(DhtTime now) const {
  std::vector<Entries::const_pointer> items;
  items.reserve(entries_.size());
  for (auto const& item : entries_)
    if (item.second.expiration >= now) items.push_back(&item);
  std::sort(items.begin(), items.end(), [](auto const* a, auto const* b) {
    return a->second.order < b->second.order;
  });
  return items;
}

DictionaryValue::Entry const* DictionaryValue::find(ByteView subkey) const {
  auto const it = entries_.find(to_bytes(subkey));
  return it == entries_.end() ? nullptr : &it->second;
}

Bytes StoredValue::encode(DhtTime now) const {
  if (auto const* bytes = regular()) return *bytes;
  return std::get<DictionaryValue>(value).encode(now);
}

}  // namespace waggle::dht
