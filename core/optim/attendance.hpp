// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>

#include "core/base/ids.hpp"

namespace waggle::optim {

/// Who did not come to the last rounds, so that nobody waits for them again at once. A peer that
/// missed m rounds running is not expected in the next 2^m - 1 (kMostSkipped at most), and again
/// after that; who comes is expected from then on. Pure.
class Attendance {
 public:
  static constexpr int kMostSkipped = 63;

  /// Whether the next round should wait for `peer`.
  [[nodiscard]] bool expected(PeerId const& peer) const;
  /// A round is over: `waited_for` were expected, `came` took part and were not banned.
  void round(std::span<PeerId const> waited_for, std::span<PeerId const> came);

 private:
  struct Missed {
    int running = 0;
    int skip = 0;
  };

  std::map<PeerId, Missed> missed_;  // bounded: only peers that were waited for
};

}  // namespace waggle::optim
