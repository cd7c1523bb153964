// SPDX-License-Identifier: MIT
#include "core/node/snapshots.hpp"

#include <utility>

namespace waggle::node {

void Snapshots::made_by(std::function<void()> ask) {
  {
    std::lock_guard const lock(mutex_);
    ask_ = std::move(ask);
  }
  came_.notify_all();
}

void Snapshots::set(std::shared_ptr<Snapshot const> snapshot) {
  {
    std::lock_guard const lock(mutex_);
    value_ = std::move(snapshot);
    made_ = clock_.now();
    ++number_;
  }
  came_.notify_all();
}

bool Snapshots::old() const {
  return ask_ && clock_.now() >= made_ + kFresh;
}

void Snapshots::outdate() {
  std::lock_guard const lock(mutex_);
  made_ = TimePoint::min();
}

std::shared_ptr<Snapshot const> Snapshots::fresh() {
  std::unique_lock lock(mutex_);
  if (old()) {
    ask_();
    came_.wait_for(lock, kPatience, [this, asked = number_] { return number_ != asked || !ask_; });
  }
  return value_;
}

std::shared_ptr<Snapshot const> Snapshots::if_fresh() {
  std::lock_guard const lock(mutex_);
  if (!old()) return value_;
  ask_();
  return nullptr;
}

std::shared_ptr<Snapshot const> Snapshots::last() const {
  std::lock_guard const lock(mutex_);
  return value_;
}

}  // namespace waggle::node
