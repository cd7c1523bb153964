// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::blob {

/// How a stream to a provider ended.
enum class Ending : std::uint8_t {
  drained,  ///< it has nothing more that we need and that is not asked for already
  greeted,  ///< it gave the manifest; go on at once
  busy,     ///< it asked to come back later
  failed,   ///< not reached, closed, too slow
  lied,     ///< bytes that do not fit their hash, or break the protocol
};

/// Whom to ask, how many streams to each, and when again. A provider that failed waits longer each
/// time; one that lied kMaxLies times is not asked again. Pure.
class ProviderBook {
 public:
  /// Strangers fill the DHT's list of providers: more are not remembered, but failing ones give way
  /// to new ones.
  static constexpr std::size_t kMaxProviders = 256;
  static constexpr std::size_t kStreamsEach = 2;
  /// One bad chunk may be a bad disk.
  static constexpr std::uint32_t kMaxLies = 2;
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kLongestWait = std::chrono::minutes(1);

  /// `first`: asked before others (a hint, or connected already).
  void add(PeerId const& peer, bool first);

  /// The next to open a stream to; counts it as opened. Nothing: none is due.
  [[nodiscard]] std::optional<PeerId> pick(TimePoint now);
  /// Something good came: earlier failures are forgiven.
  void gave(PeerId const& peer);
  void ended(PeerId const& peer, Ending how, TimePoint now);

  /// When pick() could say something new by itself; kNoDeadline if never.
  [[nodiscard]] TimePoint next_due(TimePoint now) const;

  [[nodiscard]] std::size_t streams() const noexcept { return streams_; }

  /// Those that are not known to be useless.
  [[nodiscard]] std::size_t useful() const noexcept;
  [[nodiscard]] bool banned(PeerId const& peer) const;

 private:
  struct Provider {
    bool first = false;
    std::uint32_t lies = 0;
    std::uint32_t failures = 0;  // in a row
    std::size_t streams = 0;
    TimePoint due = TimePoint::min();
  };

  std::map<PeerId, Provider> providers_;
  std::size_t streams_ = 0;
};

}  // namespace waggle::blob
