// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/net/stream.hpp"

namespace waggle::sim {

/// What leaves one host: all its streams share it, so they queue behind each other.
struct Uplink {
  double bytes_per_second = 0;  ///< 0: unlimited
  TimePoint free_at{};          ///< when what was written so far is out
  std::uint64_t bytes = 0;      ///< written so far
};

/// One direction of a stream.
struct Path {
  Duration latency{};
  double loss = 0;  ///< chance that a write is sent twice: it then comes later, never not at all
  std::size_t window = 256u << 10;  ///< bytes written and not yet read, as yamux starts
  std::shared_ptr<Uplink> uplink;   ///< the sender's; null: unlimited
  std::function<bool()>
      cut;  ///< while true nothing arrives, but nothing is lost either, as over TCP
};

class MemoryLink;

/// The live streams of one host, so that its death can end them.
class StreamSet {
 public:
  /// Resets the host's end of each. Silent: the others are not told, as when a machine loses power.
  void kill(bool silent) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return links_.size(); }

 private:
  friend class MemoryLink;
  std::unordered_map<std::uint64_t, std::pair<MemoryLink*, int>> links_;
};

/// Two ends of one stream; `there` is the way from the first to the second. What was written before
/// a reset can still be read after it. Works on any Runtime, which must outlive both.
[[nodiscard]] std::pair<std::unique_ptr<net::Stream>, std::unique_ptr<net::Stream>> memory_pair(
    Runtime& runtime,
    Path there = {},
    Path back = {},
    std::shared_ptr<StreamSet> first_host = nullptr,
    std::shared_ptr<StreamSet> second_host = nullptr);

}  // namespace waggle::sim
