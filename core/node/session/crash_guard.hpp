// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.hpp"
#include "core/optim/collaborative_optimizer.hpp"

namespace waggle::node {

/// Counts how often in a row a task's trainer could not be started. Pure: whoever asks it sleeps
/// and pauses. Once it runs, the optimizer goes on counting (kMostTrainerLosses), and this has the
/// words.
class CrashGuard {
 public:
  static constexpr int kMost = optim::CollaborativeOptimizer::kMostTrainerLosses;

  /// `failures`: in a row until now, fewer than kMost.
  explicit CrashGuard(int failures = 0) noexcept : failures_(failures) {}

  /// Whether trying again may help: a process that dies, hangs or lacks a resource now, but not a
  /// task that does not fit, a missing program or a file of the wrong kind.
  [[nodiscard]] static bool may_pass(Error const& why) noexcept;

  /// Another failure. True: it was one too many, and the count begins anew.
  [[nodiscard]] bool failed() noexcept;

  /// In a row, so far.
  [[nodiscard]] int failures() const noexcept { return failures_; }

 private:
  int failures_;
};

constexpr std::size_t kMostCrashReason = 400;

/// Why a task is paused, for people: how often its trainer failed and the last error, as one line
/// of at most kMostCrashReason bytes.
[[nodiscard]] std::string crash_reason(Error const& last);

}  // namespace waggle::node
