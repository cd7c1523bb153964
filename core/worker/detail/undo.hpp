// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace waggle::worker {

/// A buffer shared with a process that may die while writing it, and what it held before. A copy is
/// taken before each call that writes; after a death it is put back, so a call has happened wholly
/// or not at all. Cost: one pass over the buffer a call, none while it is known to be all zeros.
class Undoable {
 public:
  void attach(std::span<float> buffer, bool zero) noexcept {
    buffer_ = buffer;
    zero_ = zero;
  }

  [[nodiscard]] std::span<float> values() const noexcept { return buffer_; }

  /// Before a call that may write it.
  void save() {
    saved_zero_ = zero_;
    if (!zero_) saved_.assign(buffer_.begin(), buffer_.end());
    zero_ = false;
  }

  /// The call may be tried again afterwards, so nothing is known to be zero from here on.
  void restore() noexcept {
    if (saved_zero_)
      std::fill(buffer_.begin(), buffer_.end(), 0.0f);
    else
      std::copy(saved_.begin(), saved_.end(), buffer_.begin());
  }

  void clear() noexcept {
    std::fill(buffer_.begin(), buffer_.end(), 0.0f);
    zero_ = true;
  }

  /// Somebody may write through a span.
  void touch() noexcept { zero_ = false; }

 private:
  std::span<float> buffer_;
  std::vector<float> saved_;
  bool zero_ = false;
  bool saved_zero_ = false;
};

}  // namespace waggle::worker
