// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/config.hpp"
#include "core/train/data/idx_images.hpp"

namespace waggle::train {

/// Turns images into what a net eats: an endless stream of training samples in this peer's own
/// order, pass after pass through the set, each pass shuffled anew, normalised, with random crop
/// and flip. Everything is a function of (seed, position), so any stretch can be drawn again.
class ImageStream {
 public:
  ImageStream(ImageSet set, DataConfig const& config, std::uint64_t seed);

  /// Samples position … position + count − 1. Shapes: pixels [count, channels, height, width],
  /// labels [count]. Cost: one pass over the pixels; a new pass shuffles the set once, O(n).
  void draw(std::uint64_t position, std::span<float> pixels, std::span<std::int64_t> labels);
  /// Samples first … of the set in file order, normalised only.
  void take(std::uint32_t first, std::span<float> pixels, std::span<std::int64_t> labels) const;

  [[nodiscard]] ImageSet const& set() const noexcept { return set_; }

 private:
  [[nodiscard]] std::uint32_t index_of(std::uint64_t position);
  void copy_plain(std::uint32_t index, float* out) const noexcept;
  void copy_augmented(std::uint32_t index, std::uint64_t position, float* out) const noexcept;

  ImageSet set_;
  int padding_;
  bool flip_;
  std::uint64_t seed_;
  /// A byte's normalised value, for each channel.
  std::vector<std::array<float, 256>> value_;
  std::uint64_t pass_ = UINT64_MAX;
  std::vector<std::uint32_t> order_;
};

}  // namespace waggle::train
