// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace waggle {

/// A newest-wins slot between threads: the writer replaces, readers share what is there.
/// A mutex rather than atomic<shared_ptr>: a few nanoseconds, and clean under TSan.
template <class T>
class Latest {
 public:
  void set(std::shared_ptr<T const> value) {
    std::lock_guard const lock(mutex_);
    value_ = std::move(value);
  }

  /// Null before the first set().
  [[nodiscard]] std::shared_ptr<T const> get() const {
    std::lock_guard const lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<T const> value_;  // guarded by mutex_
};

}  // namespace waggle
