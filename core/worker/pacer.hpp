// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/base/runtime.hpp"

namespace waggle::worker {

/// Keeps work to a share of the time, by rests between pieces of work that take as long as they
/// take. Pure: told what was used and what time it is, it says until when to rest.
///
/// An account: time earns `share` of itself, work spends what it took. What is earned and not used
/// counts for kWindow, so that late timers and uneven pieces even out, and a long wait for others
/// is not followed by a long burst. A piece of work is owed for whole, however long it was; what
/// was owed before it counts for kWindow at most. So over some windows work is `share` of the time,
/// unless whoever asks cannot rest as long as he is told to.
class Pacer {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);

  /// Another share (0, 1]: what is owed stays owed, and is paid at the new one. All of the time
  /// owes nothing, and what comes after it begins anew.
  void set_share(double share) noexcept;

  /// Forgets what was used: the work of somebody else begins.
  void reset() noexcept { looked_.reset(); }

  [[nodiscard]] double share() const noexcept { return share_; }

  /// Until when to rest, `now` or earlier for not at all. `used`: of what is shared out, since
  /// reset(), in seconds at full use; less than last time counts as begun anew.
  [[nodiscard]] TimePoint due(Duration used, TimePoint now) noexcept;

  /// What due() said last, by the share that holds now; long ago for no rest.
  [[nodiscard]] TimePoint rest_until() const noexcept;

 private:
  double share_ = 1;
  double account_ = 0;  // seconds of work that are earned; negative: owed
  Duration used_{};
  std::optional<TimePoint> looked_;
};

}  // namespace waggle::worker
