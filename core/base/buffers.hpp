// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "core/base/bytes.hpp"

namespace waggle {

/// Smaller buffers are malloc's business.
constexpr std::size_t kSmallestKeptBuffer = 64u << 10;
/// Of all buffers that are kept. Larger: an idle node holds more; smaller: busy rounds have the
/// kernel clear fresh pages for every part.
constexpr std::size_t kMaxKeptBuffers = 16u << 20;

/// A buffer of `n` bytes that may have been used before: what it contains is unspecified, so it is
/// for whoever fills it. Thread: any.
[[nodiscard]] Bytes take_buffer(std::size_t n);
/// Keeps the buffer for take_buffer(), or frees it. Thread: any.
void give_buffer(Bytes&& buffer) noexcept;

/// Gives its buffer back at the end.
class Recycled {
 public:
  Recycled() = default;

  explicit Recycled(Bytes buffer) noexcept : bytes(std::move(buffer)) {}

  Recycled(Recycled&& other) noexcept : bytes(std::exchange(other.bytes, {})) {}

  Recycled& operator=(Recycled&& other) noexcept {
    std::swap(bytes, other.bytes);
    return *this;
  }

  ~Recycled() { give_buffer(std::move(bytes)); }

  Bytes bytes;
};

}  // namespace waggle
