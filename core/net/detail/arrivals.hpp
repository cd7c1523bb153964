// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "core/base/buffers.hpp"

namespace waggle::net {

/// What a connection's reader reads into; shared with the bytes in it that nobody has asked for
/// yet.
using Block = std::shared_ptr<Recycled>;

/// Bytes that have arrived on a stream and wait to be read, first in, first out. Those that fill
/// most of the block they came in stay there; others are copied, so that the memory held is at most
/// about 2.7 times size().
class Arrivals {
 public:
  /// `bytes` lie in `block`.
  void push(ByteView bytes, Block const& block);
  /// Moves as much as fits to `out`; how much.
  std::size_t take(MutableBytes out) noexcept;
  /// Forgets everything; how much it was.
  std::size_t clear() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  struct Slice {
    Block block;
    ByteView unread;
  };

  std::vector<Slice> slices_;
  std::size_t first_ = 0;  // slice that is not read to its end
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // behind the last slice, if that is a copy
};

}  // namespace waggle::net
