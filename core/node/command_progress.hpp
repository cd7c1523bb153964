// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/runtime.hpp"
#include "core/node/commands.hpp"

namespace waggle::node {

/// How far a command has come: told by the threads that carry it out, asked by one that waits.
/// Thread: any.
class CommandProgress {
 public:
  void carried_out() {
    tell([this] { taken_.carried_out = true; });
  }

  /// `on_disk` false: it could not be written.
  void kept(bool on_disk) {
    tell([this, on_disk] {
      taken_.kept = on_disk;
      disk_answered_ = true;
    });
  }

  void refused(Error why) {
    tell([this, &why] { refusal_ = std::move(why); });
  }

  /// Until all of it holds or it was refused, but no longer than `most`: how far it is then.
  [[nodiscard]] Result<Taken> wait(Duration most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(
        lock, most, [this] { return refusal_ || (taken_.carried_out && disk_answered_); });
    if (refusal_) return *refusal_;
    return taken_;
  }

 private:
  template <class F>
  void tell(F f) {
    {
      std::lock_guard const lock(mutex_);
      f();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Taken taken_;                   // guarded by mutex_
  bool disk_answered_ = false;    // guarded by mutex_
  std::optional<Error> refusal_;  // guarded by mutex_
};

}  // namespace waggle::node
