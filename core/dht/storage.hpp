// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/dht/id.hpp"
#include "core/dht/value.hpp"

namespace waggle::dht {

/// What became of a record that was offered. Everything but `stored` is store_ok = false on the
/// wire.
enum class StoreOutcome : std::uint8_t {
  stored,
  older,      ///< what is there ends as late or later, or has a higher version
  expired,    ///< it had ended when it came, or its expiration is no number
  too_far,    ///< it would end more than kMaxAhead from now
  too_large,  ///< the value, the entry or the dictionary is above its limit
  quota,      ///< its sender, or everybody together, holds too much here
  invalid,    ///< a validator said no, or the subkey is malformed
};

[[nodiscard]] std::string_view name(StoreOutcome outcome) noexcept;

/// Larger: one stranger's memory is ours. Smaller: honest records and handovers are lost.
struct StorageLimits {
  double max_ahead = 24 * 3600;             ///< seconds; later ends are refused, never shortened
  std::size_t max_entry_bytes = 64u << 10;  ///< a regular value; subkey and value of one entry
  std::size_t max_dictionary_bytes = 2u << 20;  ///< all entries of one key
  std::size_t max_sender_bytes = 8u << 20;  ///< own records and one handover (a message of 4 MiB)
  std::size_t max_bytes = 32u << 20;  ///< everything; a full store drops the greediest sender's
  std::size_t max_keys = ~std::size_t{0};  ///< a cache's limit; the earliest ends go first
};

/// Records by key, until they expire: hivemind's DHTLocalStorage, with byte quotas. A node has two,
/// its storage and its cache. Pure: the time comes with each call.
///
/// Departures from hivemind: a rejected older value does not shorten the life of the one that is
/// there; limits and quotas; records that a rule certifies stay by version
/// (core/dht/record_rule.hpp). Cost: O(log n) a call, plus O(log m) in a dictionary of m entries.
/// Source: spec/hivemind-dht.md section 12.
class Storage {
 public:
  /// The version by which a regular value is certified, if it is. See RecordRule.
  using Certify = std::function<std::optional<std::uint64_t>(Id const&, ByteView)>;

  explicit Storage(StorageLimits limits = {}) : limits_(limits) {}

  /// Applies to what is there already as well.
  void set_certify(Certify certify);

  /// `sender` pays; an empty one is ourselves and pays nothing.
  StoreOutcome store(
      Id const& key, Bytes value, DhtTime expiration, DhtTime now, PeerId const& sender = {});
  /// `subkey` in normal form (normal_subkey).
  StoreOutcome store_entry(Id const& key,
                           Bytes subkey,
                           Bytes value,
                           DhtTime expiration,
                           DhtTime now,
                           PeerId const& sender = {});

  /// Null if nothing lives there. Valid until the next call that is not const.
  [[nodiscard]] StoredValue const* get(Id const& key, DhtTime now);
  /// The version of what get() returns, if it is certified.
  [[nodiscard]] std::optional<std::uint64_t> version(Id const& key) const;

  void erase(Id const& key);
  /// Drops what has expired.
  void expire(DhtTime now);

  /// All live keys in order.
  [[nodiscard]] std::vector<Id> keys(DhtTime now);

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

  /// Bytes charged, overhead included.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] std::size_t bytes_of(PeerId const& sender) const;

  /// Charged for each value beside its bytes: what its bookkeeping takes here.
  static constexpr std::size_t kOverhead = 160;

 private:
  struct Item {
    StoredValue stored;
    std::uint32_t account = 0;         // of a regular value
    std::size_t dictionary_bytes = 0;  // of all entries
    std::optional<std::uint64_t> version;
    bool placed = false;  // false only while it is being made
  };

  struct Account {
    PeerId sender;
    std::size_t bytes = 0;
    std::size_t values = 0;
  };

  using Items = std::map<Id, Item>;

  [[nodiscard]] std::optional<StoreOutcome> refuse(std::size_t bytes,
                                                   DhtTime expiration,
                                                   DhtTime now) const;
  [[nodiscard]] std::optional<std::uint32_t> known_account(PeerId const& sender) const;
  std::uint32_t account_of(PeerId const& sender);
  void charge(std::uint32_t account, std::size_t bytes);
  void release(std::uint32_t account, std::size_t bytes);
  bool make_room(PeerId const& sender, std::size_t bytes, std::size_t freed, Id const& keep);
  void drop_some_of(std::uint32_t account, std::size_t bytes, Id const& keep);
  void release_all(Item const& item);
  void prune(Item& item, DhtTime now);
  void end_at(Items::iterator it, DhtTime expiration);
  void remove(Items::iterator it);
  void shrink();

  StorageLimits limits_;
  Certify certify_;
  Items items_;
  std::set<std::pair<DhtTime, Id>> ends_;
  std::map<PeerId, std::uint32_t> account_index_;
  std::map<std::uint32_t, Account> accounts_;
  std::uint32_t next_account_ = 1;  // 0: ourselves
  std::size_t bytes_ = 0;
};

}  // namespace waggle::dht
