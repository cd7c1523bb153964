// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "core/base/runtime.hpp"

namespace waggle::sim {

/// How the hosts of a MemoryNetwork are joined; hosts are numbered in the order of their first
/// appearance.
struct Links {
  /// One way, between two hosts; the same both ways unless you say otherwise. Null: none.
  std::function<Duration(std::uint32_t from, std::uint32_t to)> latency;
  double jitter = 0;            ///< each stream's latency is multiplied by 1 + [0, jitter)
  double loss = 0;              ///< see Path::loss
  double bytes_per_second = 0;  ///< of each host's uplink; 0: unlimited
  std::size_t window = 256u << 10;
  /// Whether nothing passes between the two just now. Null: never.
  std::function<bool(std::uint32_t a, std::uint32_t b)> cut;
  /// Dialling a dead host: true: refused after a round trip (the machine lives); false: the
  /// deadline passes.
  bool dead_hosts_refuse = true;
};

namespace links {

/// No latency, no limits: for unit tests.
[[nodiscard]] Links instant();
/// 0.2 ms, 1 Gbit/s.
[[nodiscard]] Links lan();
/// Homes in six regions: 5 to 40 ms of access line, up to 150 ms between regions, 20 Mbit/s up, 20
/// % jitter, 0.1 % loss, dead hosts do not answer.
[[nodiscard]] Links residential(std::uint64_t seed = 1);

}  // namespace links

}  // namespace waggle::sim
