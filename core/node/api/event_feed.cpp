// SPDX-License-Identifier: MIT
#include "core/node/api/event_feed.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"

namespace waggle::node {

EventFeed::Listener::~Listener() {
  std::lock_guard const lock(feed_.mutex_);
  --feed_.listeners_;
}

bool EventFeed::Listener::next(std::string& out, std::chrono::milliseconds patience) {
  std::unique_lock lock(feed_.mutex_);
  feed_.changed_.wait_for(lock, patience, [&] { return feed_.closed_ || feed_.last_ > after_; });
  if (feed_.closed_) return false;
  std::uint64_t const first = feed_.last_ - feed_.kept_.size() + 1;
  for (std::uint64_t n = std::max(after_ + 1, first); n <= feed_.last_; ++n)
    out += cat("id: ", n, "\ndata: ", feed_.kept_[n - first], "\n\n");
  after_ = feed_.last_;
  return true;
}

void EventFeed::publish(std::string json) {
  {
    std::lock_guard const lock(mutex_);
    kept_.push_back(std::move(json));
    if (kept_.size() > kKept) kept_.pop_front();
    ++last_;
  }
  changed_.notify_all();
}

void EventFeed::close() {
  {
    std::lock_guard const lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<EventFeed::Listener> EventFeed::listen(std::optional<std::uint64_t> after) {
  std::lock_guard const lock(mutex_);
  if (listeners_ >= kListeners) return nullptr;
  ++listeners_;
  // A number from before a restart lies ahead of ours: that listener wants all there is.
  std::uint64_t const from = after.value_or(last_);
  return std::make_shared<Listener>(*this, from > last_ ? 0 : from);
}

}  // namespace waggle::node
