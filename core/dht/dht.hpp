// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dht/id.hpp"
#include "core/dht/record_rule.hpp"
#include "core/dht/validator.hpp"
#include "core/dht/value.hpp"
#include "core/net/host.hpp"

namespace waggle::dht {

/// One record to store. `subkey` (msgpack bytes) empty: a regular value.
struct Record {
  Id key;
  std::optional<Bytes> subkey;
  Bytes value;  ///< msgpack bytes, unsigned: validators sign
  DhtTime expiration = 0;
};

struct Options {
  std::vector<PeerId> initial_peers;
  bool client_mode = false;  ///< serve nothing, be in nobody's table
  std::size_t bucket_size = 20;
  std::size_t replicas = 5;
  std::size_t beam_size = 20;
  std::size_t workers = 4;
  std::size_t depth_modulo = 5;
  Duration wait_timeout = std::chrono::seconds(3);
  std::size_t cache_nearest = 1;
  std::size_t cache_size = 10'000;
  /// How often a node looks for its own id or for one in its stalest bucket, so that a table heals
  /// where nothing else is asked for. hivemind never does; 0: never.
  Duration refresh_interval = std::chrono::minutes(5);
};

/// What a node has done since its start; for people and for load figures.
struct Counters {
  std::uint64_t pings_served = 0;
  std::uint64_t stores_served = 0;
  std::uint64_t finds_served = 0;
  std::uint64_t malformed = 0;        ///< calls that did not parse
  std::uint64_t records_taken = 0;    ///< items others stored here
  std::uint64_t records_refused = 0;  ///< items others offered in vain
  std::uint64_t calls = 0;            ///< our calls to others
  std::uint64_t calls_failed = 0;
  std::uint64_t searches = 0;
  std::uint64_t search_calls = 0;  ///< questions in all searches
  std::uint64_t search_hops = 0;  ///< answers that had to wait for each other, summed over searches
  std::uint64_t handed_over = 0;  ///< items sent to new nodes
};

enum class Freshness : std::uint8_t { any, latest };

/// A node of hivemind's DHT. Source: spec/hivemind-dht.md sections 9 to 15; the quirks of its
/// section 18 are not copied. Thread: the network thread.
class Dht {
 public:
  /// Serves the DHT's calls on `host`. Does not contact anybody yet. `host` must outlive it.
  Dht(net::Host& host, Options options);
  ~Dht();

  /// Pings `initial_peers`, measures the clock offset, searches for the own id. Succeeds with none
  /// reachable only if there were none to reach. Errors: not_found (names each peer that failed and
  /// why), cancelled. May be called again, for instance while nobody could be reached.
  [[nodiscard]] Co<Status> bootstrap(TimePoint deadline);
  /// The same with other peers than those of the options.
  [[nodiscard]] Co<Status> bootstrap(std::vector<PeerId> peers, TimePoint deadline);
  /// Stops serving and waits for what runs. Due before destruction. Calls of ours that others wait
  /// for must have ended (they are cancelled by their own scopes).
  [[nodiscard]] Co<void> close();

  /// Whether at least one node took it (store_ok). Errors: timeout, cancelled, refused (a validator
  /// of ours says no).
  [[nodiscard]] Co<Result<bool>> store(Record record, TimePoint deadline);
  /// Bulk: one search for all keys, one call a node. One bool a record, in order.
  [[nodiscard]] Co<Result<std::vector<bool>>> store_many(std::vector<Record> records,
                                                         TimePoint deadline);

  [[nodiscard]] Co<Result<Found>> get(Id key, Freshness freshness, TimePoint deadline);
  [[nodiscard]] Co<Result<std::vector<Found>>> get_many(std::vector<Id> keys,
                                                        Freshness freshness,
                                                        TimePoint deadline);

  /// The nodes nearest to `target` after a search, nearest first, at most beam_size; ourselves not
  /// among them. Errors: cancelled.
  [[nodiscard]] Co<Result<std::vector<PeerId>>> find_nodes(Id target, TimePoint deadline);

  /// Validators check what others store with us, what we are answered, and sign what we store.
  /// Scoped.
  [[nodiscard]] net::Registration add_validator(std::shared_ptr<Validator> validator);

  /// Records that count by version instead of expiration, here and in what we are answered. Scoped.
  [[nodiscard]] net::Registration add_rule(std::shared_ptr<RecordRule> rule);

  /// Unix time by the swarm's clock: ours plus the median offset of at least three peers.
  [[nodiscard]] DhtTime time() const noexcept;
  /// The measured offset in seconds, 0 before three peers answered; and how many samples it rests
  /// on. Applied to time() between 1 s and ten minutes. hivemind peers refuse us where it is above
  /// 3 s.
  [[nodiscard]] double clock_offset() const noexcept;
  [[nodiscard]] std::size_t clock_samples() const noexcept;

  [[nodiscard]] Id const& id() const noexcept;
  [[nodiscard]] std::size_t table_size() const noexcept;
  /// The nodes of our table nearest to `target`, nearest first.
  [[nodiscard]] std::vector<PeerId> nearest(Id const& target, std::size_t k) const;
  /// Keys in storage and cache.
  [[nodiscard]] std::size_t stored_records() const noexcept;
  [[nodiscard]] std::size_t stored_bytes() const noexcept;
  [[nodiscard]] Counters const& counters() const noexcept;
  [[nodiscard]] net::Host& host() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with handlers that are still answering
};

}  // namespace waggle::dht
