// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::optim {

/// What a peer says of itself under "<run_id>_progress". Wire-stable. Source: spec/hivemind-averaging.md section 6.
struct LocalProgress {
  PeerId peer;
  std::int64_t epoch = 0;
  std::uint64_t samples_accumulated = 0;
  double samples_per_second = 0;
  double time = 0;  ///< DHT time of the report
  bool client_mode = false;

  [[nodiscard]] wire::Msgpack to_msgpack() const;
  /// Errors: malformed (names the field). Strict, as hivemind's schema is.
  [[nodiscard]] static Result<LocalProgress> from_msgpack(wire::Msgpack const& value);
  friend bool operator==(LocalProgress const&, LocalProgress const&) = default;
};

/// The swarm as estimated from its records, after nobody was believed.
struct GlobalProgress {
  std::int64_t epoch = 0;
  std::uint64_t samples_accumulated = 0;
  std::uint64_t target_batch_size = 0;
  double samples_per_second = 0;
  std::size_t peers = 0;
  std::size_t clients = 0;
  double eta = 0;          ///< DHT time at which the batch should be full
  double next_fetch = 0;   ///< DHT time
  std::vector<std::string> ignored;  ///< a line a record that was not believed, with the reason
};

}  // namespace waggle::optim
