// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dht/id.hpp"
#include "core/dht/validator.hpp"
#include "core/net/host.hpp"

namespace waggle::dht {

/// Expirations are Unix seconds by the swarm's clock.
using DhtTime = double;

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

/// One record to store. `subkey` (msgpack bytes) empty: a regular value.
struct Record {
  Id key;
  std::optional<Bytes> subkey;
  Bytes value;  ///< msgpack bytes, unsigned: validators sign
  DhtTime expiration = 0;
};

struct Options {
  std::vector<PeerId> initial_peers;
  bool client_mode = false;            ///< serve nothing, be in nobody's table
  std::size_t bucket_size = 20;
  std::size_t replicas = 5;
  std::size_t beam_size = 20;
  std::size_t workers = 4;
  std::size_t depth_modulo = 5;
  Duration wait_timeout = std::chrono::seconds(3);
  std::size_t cache_nearest = 1;
  std::size_t cache_size = 10'000;
};

enum class Freshness : std::uint8_t { any, latest };

/// A node of hivemind's DHT. Source: spec/hivemind-dht.md sections 9 to 15; the quirks of its section 18
/// are not copied. Thread: the network thread.
class Dht {
 public:
  /// Serves the DHT's calls on `host`. Does not contact anybody yet. `host` must outlive it.
  Dht(net::Host& host, Options options);
  ~Dht();

  /// Pings `initial_peers`, measures the clock offset, searches for the own id. Succeeds with none reachable
  /// only if there were none to reach. Errors: not_found (names each peer that failed and why), cancelled.
  [[nodiscard]] Co<Status> bootstrap(TimePoint deadline);
  /// Stops serving and waits for what runs.
  [[nodiscard]] Co<void> close();

  /// Whether at least one node took it (store_ok). Errors: timeout, cancelled, refused (a validator of ours says no).
  [[nodiscard]] Co<Result<bool>> store(Record record, TimePoint deadline);
  /// Bulk: one search for all keys, one call a node. One bool a record, in order.
  [[nodiscard]] Co<Result<std::vector<bool>>> store_many(std::vector<Record> records, TimePoint deadline);

  [[nodiscard]] Co<Result<Found>> get(Id key, Freshness freshness, TimePoint deadline);
  [[nodiscard]] Co<Result<std::vector<Found>>> get_many(std::vector<Id> keys, Freshness freshness, TimePoint deadline);

  /// Validators check what others store with us, what we are answered, and sign what we store. Scoped.
  [[nodiscard]] net::Registration add_validator(std::shared_ptr<Validator> validator);

  /// Unix time by the swarm's clock: ours plus the median offset of at least three peers.
  [[nodiscard]] DhtTime time() const noexcept;
  /// The measured offset in seconds, 0 before three peers answered; and how many samples it rests on.
  [[nodiscard]] double clock_offset() const noexcept;
  [[nodiscard]] std::size_t clock_samples() const noexcept;

  [[nodiscard]] Id const& id() const noexcept;
  [[nodiscard]] std::size_t table_size() const noexcept;
  [[nodiscard]] std::size_t stored_records() const noexcept;
  [[nodiscard]] net::Host& host() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::dht
