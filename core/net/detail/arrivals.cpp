// SPDX-License-Identifier: MIT
#include "core/net/detail/arrivals.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/copies.hpp"

namespace waggle::net {
namespace {

// A block is kept for bytes that take three eighths of it: less would hold much memory for little,
// more would copy what a block of two Noise messages brings.
bool worth_keeping(std::size_t bytes, Block const& block) noexcept {
  return block && 8 * bytes >= 3 * block->bytes.size();
}

// Copies are gathered in pieces of this size: many small bodies, one allocation.
constexpr std::size_t kSmallestCopy = 1u << 10;
constexpr std::size_t kLargestCopy = 64u << 10;

}  // namespace

void Arrivals::push(ByteView bytes, Block const& block) {
  size_ += bytes.size();
  if (worth_keeping(bytes.size(), block)) {
    slices_.push_back({block, bytes});
    room_ = 0;
    return;
  }
  note_copy(Copied::receive, bytes.size());
  while (!bytes.empty()) {
    if (room_ == 0) {
      auto const capacity = std::clamp(size_, kSmallestCopy, kLargestCopy);
      auto copy = std::make_shared<Recycled>(take_buffer(capacity));
      ByteView const nothing(copy->bytes.data(), 0);
      slices_.push_back({std::move(copy), nothing});
      room_ = capacity;
    }
    auto& slice = slices_.back();
    auto& buffer = slice.block->bytes;
    auto const n = std::min(room_, bytes.size());
    std::memcpy(buffer.data() + (buffer.size() - room_), bytes.data(), n);
    slice.unread = ByteView(slice.unread.data(), slice.unread.size() + n);
    room_ -= n;
    bytes = bytes.subspan(n);
  }
}

std::size_t Arrivals::take(MutableBytes out) noexcept {
  std::size_t done = 0;
  while (done < out.size() && first_ < slices_.size()) {
    auto& slice = slices_[first_];
    auto const n = std::min(slice.unread.size(), out.size() - done);
    if (n > 0) std::memcpy(out.data() + done, slice.unread.data(), n);
    slice.unread = slice.unread.subspan(n);
    done += n;
    if (!slice.unread.empty()) continue;
    slice.block.reset();
    ++first_;
  }
  note_copy(Copied::receive, done);
  size_ -= done;
  if (size_ == 0) {
    clear();
  } else if (first_ > slices_.size() / 2) {
    slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return done;
}

std::size_t Arrivals::clear() noexcept {
  auto const n = std::exchange(size_, 0);
  slices_.clear();
  if (slices_.capacity() > 64) slices_ = {};
  first_ = 0;
  room_ = 0;
  return n;
}

}  // namespace waggle::net
