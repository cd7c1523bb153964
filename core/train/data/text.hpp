// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/train/config.hpp"

namespace waggle::train {

/// Byte-level text. A sample is a window of context + 1 bytes: a byte is a token, each predicts the
/// next. Training draws windows at random places, a function of (seed, position); testing takes
/// them side by side from the held-out part.
class TextStream {
 public:
  /// Limits: 2 GiB. Without `test` the last test_fraction of `train` is held out.
  /// Errors: invalid (a part shorter than one window), too_large.
  [[nodiscard]] static Result<TextStream> make(
      Bytes train, Bytes test, DataConfig const& config, std::int64_t context, std::uint64_t seed);

  /// Shapes: tokens [count × (context + 1)].
  void draw(std::uint64_t position, std::span<std::int64_t> tokens) const;
  void take(std::uint32_t first, std::span<std::int64_t> tokens) const;

  [[nodiscard]] std::uint64_t train_samples() const noexcept { return train_.size() / context_; }

  [[nodiscard]] std::uint32_t test_samples() const noexcept;

  [[nodiscard]] ByteView test() const noexcept { return test_; }

 private:
  TextStream() = default;
  Bytes train_;
  Bytes test_;
  std::size_t context_ = 1;
  std::uint64_t seed_ = 0;
};

}  // namespace waggle::train
