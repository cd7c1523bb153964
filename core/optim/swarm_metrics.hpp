// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/scope.hpp"
#include "core/base/signal.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/dht.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::optim {

/// What a peer says of its last epoch under "<run_id>_metrics", as hivemind's example trainers do.
/// Wire-stable. Source: spec/hivemind-averaging.md, the ALBERT example.
struct LocalMetrics {
  std::int64_t step = 0;  ///< epochs
  double samples_per_second = 0;
  std::int64_t samples_accumulated = 0;
  double loss = 0;  ///< summed over mini_steps
  std::int64_t mini_steps = 1;

  [[nodiscard]] wire::Msgpack to_msgpack() const;
  /// Errors: malformed (names the field). Strict, and numbers must be finite.
  [[nodiscard]] static Result<LocalMetrics> from_msgpack(wire::Msgpack const& value);
  friend bool operator==(LocalMetrics const&, LocalMetrics const&) = default;
};

struct SwarmLoss {
  double loss = 0;        ///< the median of the peers' means
  std::size_t peers = 0;  ///< how many claims that is
};

/// Of claims no further than kNearEpochs from ours; unset without any. Claims are claims: a median,
/// so that no single liar moves it far. O(n log n).
[[nodiscard]] std::optional<SwarmLoss> swarm_loss(std::span<LocalMetrics const> claims,
                                                  std::int64_t our_epoch);

/// Tells the swarm our loss and learns the others', a record and a search every half minute. While
/// no epoch of ours ends, only a search every three minutes; before the first, nothing.
/// Needs the record key's validator on the DHT, which the optimizer puts there. Thread: the network
/// thread.
class SwarmMetrics {
 public:
  static constexpr std::int64_t kNearEpochs = 64;  ///< short epochs pass between two looks
  static constexpr std::size_t kMostClaims = 512;
  static constexpr double kExpiration = 600;  ///< hivemind's

  SwarmMetrics(dht::Dht& dht, crypto::RecordKey const& key, std::string run_id);
  ~SwarmMetrics();
  /// Stops; our record lapses by itself.
  [[nodiscard]] Co<void> close();

  /// An epoch of ours ended. It is told at the next occasion.
  void ended(LocalMetrics ours);
  [[nodiscard]] std::optional<SwarmLoss> loss() const;

 private:
  [[nodiscard]] Co<void> work();
  [[nodiscard]] bool news() const;  ///< an epoch of ours that was not told; there is one of ours
  [[nodiscard]] Co<Status> tell();
  [[nodiscard]] Co<Status> look();

  dht::Dht& dht_;
  Runtime& runtime_;
  dht::Id key_;
  Bytes subkey_;
  net::Registration schema_;
  std::optional<LocalMetrics> ours_;
  Signal ended_;
  std::int64_t told_ = -1;
  std::vector<LocalMetrics> claims_;
  Scope scope_;
};

}  // namespace waggle::optim
