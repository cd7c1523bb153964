// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "core/base/signal.hpp"

namespace waggle {

/// A bounded first-in first-out queue between coroutines of the network thread.
/// Full: send() waits, try_send() says no. After close() what is queued can still be received.
template <class T>
class Channel {
 public:
  /// `capacity` ≥ 1: larger hides a slow reader, smaller costs a switch an item.
  Channel(Runtime& runtime, std::size_t capacity)
      : readable_(runtime), writable_(runtime), capacity_(capacity) {}

  /// Errors: closed (nobody will read), timeout, cancelled. On an error the value is lost.
  [[nodiscard]] Co<Status> send(T value, TimePoint deadline = kNoDeadline) {
    while (!closed_ && items_.size() >= capacity_) {
      auto waited = co_await writable_.wait(deadline);
      if (!waited) co_return std::move(waited).error();
    }
    if (closed_) co_return Error{Errc::closed, "channel"};
    push(std::move(value));
    co_return ok();
  }

  /// False, and `value` untouched, if full or closed.
  [[nodiscard]] bool try_send(T&& value) {
    if (closed_ || items_.size() >= capacity_) return false;
    push(std::move(value));
    return true;
  }

  /// Errors: closed (after the last item), timeout, cancelled.
  [[nodiscard]] Co<Result<T>> receive(TimePoint deadline = kNoDeadline) {
    while (items_.empty()) {
      if (closed_) co_return Error{Errc::closed, "channel"};
      auto waited = co_await readable_.wait(deadline);
      if (!waited) co_return std::move(waited).error();
    }
    T value = std::move(items_.front());
    items_.pop_front();
    writable_.notify_one();
    co_return std::move(value);
  }

  void close() noexcept {
    closed_ = true;
    readable_.notify_all();
    writable_.notify_all();
  }

  [[nodiscard]] bool closed() const noexcept { return closed_; }

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

 private:
  void push(T value) {
    items_.push_back(std::move(value));
    readable_.notify_one();
  }

  Signal readable_;
  Signal writable_;
  std::size_t capacity_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace waggle
