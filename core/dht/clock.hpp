// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/base/ids.hpp"

namespace waggle::dht {

/// How far the swarm's clock is ahead of ours: the median over peers of what their pings said.
/// hivemind has no such correction: its peers refuse each other above 3 s.
///
/// Small offsets are not applied: nodes that follow each other's corrected clocks would drift
/// together with the error of measurement. Neither are large ones: a majority of liars moves nobody
/// further than kMaxOffset. Pure. Error of a sample: half its round trip.
class ClockOffset {
 public:
  /// `sent` and `received` by our own clock, `theirs` as the peer answered; Unix seconds. A zero,
  /// negative or non-finite answer (hivemind leaves the field out) counts as no sample, a second
  /// one replaces the first; above kMaxPeers the oldest goes.
  void sample(PeerId const& peer, double sent, double received, double theirs);
  /// Our own clock was set, or the machine slept: it is `by` seconds further than it would have
  /// run.
  void stepped(double by);

  /// Median, 0 below kMinPeers samples. Cost: O(1).
  [[nodiscard]] double measured() const noexcept { return median_; }

  /// What our clock is corrected by: measured() between kDeadZone and kMaxOffset, else 0.
  [[nodiscard]] double applied() const noexcept;

  [[nodiscard]] std::size_t samples() const noexcept { return samples_.size(); }

  static constexpr std::size_t kMinPeers = 3;
  static constexpr std::size_t kMaxPeers = 64;
  static constexpr double kDeadZone = 1.0;   ///< seconds
  static constexpr double kMaxOffset = 610;  ///< seconds: ten minutes and the error of measurement

 private:
  struct Sample {
    double offset;
    std::uint64_t number;
  };

  void update();

  std::map<PeerId, Sample> samples_;
  std::uint64_t next_ = 0;
  double median_ = 0;
};

}  // namespace waggle::dht
