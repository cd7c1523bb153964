// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

namespace waggle::net {

/// How large a read buffer should be: doubles when a read fills it, halves after kPatience reads in
/// a row that used less than a quarter, so that a busy connection reads in big pieces and hundreds
/// of quiet ones hold little.
class AdaptiveSize {
 public:
  AdaptiveSize(std::size_t smallest, std::size_t largest)
      : size_(smallest), smallest_(smallest), largest_(largest) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void note(std::size_t read) noexcept {
    if (read >= size_) {
      size_ = std::min(2 * size_, largest_);
      small_ = 0;
    } else if (read >= size_ / 4) {
      small_ = 0;
    } else if (++small_ == kPatience) {
      size_ = std::max(size_ / 2, smallest_);
      small_ = 0;
    }
  }

  /// From here on at most this.
  void limit(std::size_t largest) noexcept {
    largest_ = largest;
    size_ = std::min(size_, largest);
  }

 private:
  static constexpr int kPatience = 16;

  std::size_t size_;
  std::size_t smallest_;
  std::size_t largest_;
  int small_ = 0;
};

}  // namespace waggle::net
