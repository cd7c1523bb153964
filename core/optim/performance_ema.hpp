// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace waggle::optim {

/// An exponential moving average of seconds a sample, with the bias of its start removed.
/// Pure: the caller measures the time. Source: spec/hivemind-averaging.md section 6, "EMA".
class PerformanceEma {
 public:
  /// `alpha` in (0, 1]: larger follows sooner, smaller is steadier.
  explicit PerformanceEma(double alpha = 0.1) noexcept : alpha_(alpha) {}

  /// Notes that `samples` (≥ 1) took `seconds` (> 0). e ← α·dt/size + (1-α)·e.
  void update(std::uint64_t samples, double seconds) noexcept;

  /// 1 / (e / (1-(1-α)^updates)); 1e-20 before the first update, as hivemind reports it.
  [[nodiscard]] double samples_per_second() const noexcept;

  [[nodiscard]] double seconds_per_sample_biased() const noexcept { return ema_; }

  [[nodiscard]] bool measured() const noexcept { return updates_ > 0; }

 private:
  double alpha_;
  double ema_ = 0;
  double remaining_ = 1;  // (1-α)^updates
  std::uint64_t updates_ = 0;
};

}  // namespace waggle::optim
