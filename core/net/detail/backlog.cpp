// SPDX-License-Identifier: MIT
#include "core/net/detail/backlog.hpp"

#include <algorithm>
#include <utility>

namespace waggle::net {

void Backlog::Entry::grow(std::size_t bytes) {
  if (bytes == 0) return;
  // The backlog outlives this entry, which may be evicted below.
  auto const backlog = backlog_;
  if (bytes_ == 0) place_ = backlog->by_progress_.insert(backlog->by_progress_.end(), this);
  bytes_ += bytes;
  backlog->total_ += bytes;
  while (backlog->total_ > backlog->limit_ && !backlog->by_progress_.empty()) {
    Entry& oldest = *backlog->by_progress_.front();
    auto const evict = oldest.evict_;
    oldest.clear();
    evict();
  }
}

void Backlog::Entry::shrink(std::size_t bytes) noexcept {
  auto const n = std::min(bytes, bytes_);  // an evicted one holds nothing any more
  if (n == 0) return;
  if (n == bytes_) {
    clear();
    return;
  }
  bytes_ -= n;
  backlog_->total_ -= n;
  auto& order = backlog_->by_progress_;
  order.splice(order.end(), order, place_);
}

void Backlog::Entry::clear() noexcept {
  if (bytes_ == 0) return;
  backlog_->total_ -= std::exchange(bytes_, 0);
  backlog_->by_progress_.erase(place_);
}

}  // namespace waggle::net
