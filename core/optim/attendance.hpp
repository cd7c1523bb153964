// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>

#include "core/base/ids.hpp"

namespace waggle::optim {

/// Who did not come to the last rounds, so that nobody waits for them again at once. A peer that
/// missed m rounds running is not expected in the next 2^m - 1 (kMostSkipped at most), nor before
/// there was news of it: one that died or stands still costs one round. Who comes is expected from
/// then on. Pure.
class Attendance {
 public:
  static constexpr int kMostSkipped = 63;

  /// Whether the next round should wait for `peer`.
  [[nodiscard]] bool expected(PeerId const& peer) const;
  /// `peer` fell silent in a round of any kind.
  void missed(PeerId const& peer, double now);
  /// A sign of life of `peer`, such as a record, from this time (DHT time).
  void news(PeerId const& peer, double time);
  /// A round is over at `now`: `waited_for` were expected, `came` took part to its end.
  void round(std::span<PeerId const> waited_for, std::span<PeerId const> came, double now);

 private:
  struct Missed {
    int running = 0;
    int skip = 0;
    double at = 0;
    bool news = false;  ///< since
  };

  std::map<PeerId, Missed> missed_;  // bounded: only peers that were waited for
};

}  // namespace waggle::optim
