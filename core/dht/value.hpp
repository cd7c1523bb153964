// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <variant>

#include "core/base/bytes.hpp"

/// What stands under a key: bytes, or a dictionary whose entries end one by one.
/// Source: spec/hivemind-dht.md sections 9.3, 9.4 and 12.
namespace waggle::dht {

/// Expirations are Unix seconds by the swarm's clock. A value has expired when expiration < now.
using DhtTime = double;

constexpr DhtTime kNever = -std::numeric_limits<double>::infinity();

/// A msgpack-encoded value and when it ends.
struct Timed {
  Bytes value;
  DhtTime expiration = 0;
  friend bool operator==(Timed const&, Timed const&) = default;
};

/// Subkey (msgpack bytes, as stored) → value. Ordered by subkey bytes.
using Dictionary = std::map<Bytes, Timed>;

/// What get() finds: nothing, a regular value, or a dictionary; signatures are stripped.
struct Found {
  std::optional<Timed> regular;
  std::optional<Dictionary> dictionary;

  [[nodiscard]] bool empty() const noexcept { return !regular && !dictionary; }
};

/// The tag of a regular value: msgpack nil. An empty tag means a whole dictionary, any other one
/// entry.
[[nodiscard]] ByteView regular_tag() noexcept;
[[nodiscard]] bool is_regular_tag(ByteView tag) noexcept;

/// The length of the first msgpack value of `in`, without decoding it. Errors: malformed.
/// Cost: O(bytes), no allocation, no recursion.
[[nodiscard]] Result<std::size_t> msgpack_length(ByteView in);

/// `tag` in the shortest msgpack form, as subkeys are compared. Errors: malformed.
[[nodiscard]] Result<Bytes> normal_subkey(ByteView tag);

/// hivemind's DictionaryDHTValue: msgpack ext 0x50 on the wire. Entries are found by subkey and
/// listed in the order in which they came.
class DictionaryValue {
 public:
  struct Entry {
    Bytes value;
    DhtTime expiration = 0;
    std::uint64_t order = 0;    ///< position in listings
    std::uint32_t account = 0;  ///< who is charged for it; Storage's affair
  };

  using Entries = std::map<Bytes, Entry>;

  /// Reads ext 0x50; entries that have expired are kept until prune(). Errors: malformed, too_large
  /// (an entry's subkey above `max_subkey`).
  [[nodiscard]] static Result<DictionaryValue> decode(ByteView encoded,
                                                      std::size_t max_subkey = kMaxSubkeyBytes);
  /// Ext 0x50 with the entries that live at `now`.
  [[nodiscard]] Bytes encode(DhtTime now) const;

  /// Takes the entry unless it has expired or one that ends as late is there. `latest` grows either
  /// way.
  bool store(Bytes subkey, Bytes value, DhtTime expiration, DhtTime now, std::uint32_t account = 0);
  /// Drops what has expired; `dropped(subkey, entry)` sees each.
  template <class F>
  void prune(DhtTime now, F&& dropped);

  void prune(DhtTime now) {
    prune(now, [](Bytes const&, Entry const&) {});
  }

  /// Takes an entry out, if it is there.
  void erase(ByteView subkey);

  [[nodiscard]] Entries const& entries() const noexcept { return entries_; }

  /// Subkeys and entries that live at `now`, in listing order. The pointers live until the next
  /// change.
  [[nodiscard]] std::vector<Entries::const_pointer> listed(DhtTime now) const;
  [[nodiscard]] Entry const* find(ByteView subkey) const;

  /// The latest expiration ever offered, −infinity for none: when the whole dictionary ends.
  [[nodiscard]] DhtTime latest() const noexcept { return latest_; }

  /// Longer subkeys are refused: an owner mark of RSA-8192 takes about 1,400 bytes.
  static constexpr std::size_t kMaxSubkeyBytes = 64u << 10;

 private:
  Entries entries_;
  DhtTime latest_ = kNever;
  DhtTime earliest_ = std::numeric_limits<double>::infinity();  // of the entries; a lower bound
  std::uint64_t next_order_ = 0;
};

/// What stands under one key.
struct StoredValue {
  std::variant<Bytes, DictionaryValue> value;
  DhtTime expiration = 0;

  [[nodiscard]] DictionaryValue const* dictionary() const noexcept {
    return std::get_if<DictionaryValue>(&value);
  }

  [[nodiscard]] Bytes const* regular() const noexcept { return std::get_if<Bytes>(&value); }

  /// The bytes that go into a message: the value itself, or ext 0x50.
  [[nodiscard]] Bytes encode(DhtTime now) const;
};

template <class F>
void DictionaryValue::prune(DhtTime now, F&& dropped) {
  if (earliest_ >= now) return;
  earliest_ = std::numeric_limits<double>::infinity();
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second.expiration < now) {
      dropped(it->first, it->second);
      it = entries_.erase(it);
    } else {
      if (it->second.expiration < earliest_) earliest_ = it->second.expiration;
      ++it;
    }
  }
}

}  // namespace waggle::dht
