// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::optim {

/// The rate of a peer that has measured nothing yet, as hivemind writes it.
constexpr double kNoRate = 1e-20;

/// What a peer says of itself under "<run_id>_progress". Wire-stable. Source:
/// spec/hivemind-averaging.md section 6.
struct LocalProgress {
  PeerId peer;
  std::int64_t epoch = 0;
  std::uint64_t samples_accumulated = 0;
  double samples_per_second = 0;
  double time = 0;  ///< DHT time of the report
  bool client_mode = false;

  [[nodiscard]] wire::Msgpack to_msgpack() const;
  /// Errors: malformed (names the field). Strict, as hivemind's schema is, and stricter: numbers
  /// must be finite.
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
  std::size_t place = 0;  ///< ours by claimed rate among those peers, 1: the fastest; 0: not known
  double eta = 0;         ///< DHT time at which the batch should be full
  double next_fetch = 0;  ///< DHT time
  std::vector<std::string> ignored;  ///< a line a record that was not believed, with the reason
};

/// How often records are fetched. Longer: late news; shorter: traffic. Source: section 0 of the
/// spec.
struct RefreshLimits {
  double min = 0.5;
  double standard = 3;
  double max = 10;
  double drift_peers = 3;   ///< peers that may appear before the next fetch …
  double drift_rate = 0.2;  ///< … or this part of those known
};

/// When to fetch next, seconds from now: earlier than the ETA by as much as the swarm may have
/// grown. clip(eta · n / max(n + 3, 1.2 n), min, max); standard without peers.
[[nodiscard]] double refresh_after(double eta_seconds,
                                   std::size_t peers,
                                   RefreshLimits const& limits) noexcept;

/// hivemind's own estimate, which believes every record: what the records say. `entries` are all
/// live values under the progress key, ours included, nothing for a peer that left. O(n).
/// Source: spec/hivemind-averaging.md section 6, "Global estimate".
[[nodiscard]] GlobalProgress estimate_plain(LocalProgress const& local,
                                            std::uint64_t target_batch_size,
                                            std::span<std::optional<LocalProgress> const> entries,
                                            double now,
                                            RefreshLimits const& limits);

/// "<run_id>_progress", the key's text.
[[nodiscard]] std::string progress_key(std::string_view run_id);
/// The subkey as stored: msgpack bin of "[owner:ssh-rsa …]".
[[nodiscard]] Bytes progress_subkey(std::string_view openssh_public);

}  // namespace waggle::optim
