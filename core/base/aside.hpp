// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/runtime.hpp"

namespace waggle {

namespace detail {

/// One thread that runs one function at a time, each time it is asked to.
class AsideThread {
 public:
  AsideThread(std::string name, std::function<void()> work);
  /// Waits half a second, or patience(), for a call that runs and for the end of what the function
  /// owns; one that hangs is left to itself with what it refers to.
  ~AsideThread();
  AsideThread(AsideThread const&) = delete;
  AsideThread& operator=(AsideThread const&) = delete;

  [[nodiscard]] bool busy() const;
  /// Only when not busy.
  void begin();
  void patience(Duration at_the_end);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// A question that may hang (an X server, a bus, a driver), asked in a thread of its own: whoever
/// polls never waits, and a question that is not answered within `limit` counts as unavailable
/// until it is. At most one thread hangs, however often one polls. The function owns all it uses:
/// it may outlive this object.
template <class T>
class Aside {
 public:
  Aside(std::string name, std::function<T()> ask, Duration every, Duration limit)
      : answer_(std::make_shared<T>()),
        every_(every),
        limit_(limit),
        thread_(std::move(name),
                [answer = answer_, ask = std::move(ask)]() mutable { *answer = ask(); }) {}

  /// The newest answer; asks again with each beat of `every`, which is the same for all that have
  /// the same period: a computer at rest wakes once for several. Unset: none came yet, or the
  /// question under way hangs. Thread: one caller.
  [[nodiscard]] std::optional<T> poll(TimePoint now) {
    if (thread_.busy()) {
      if (now - asked_at_ > limit_) latest_.reset();
      return latest_;
    }
    if (asked_ && !taken_) {
      latest_ = *answer_;
      taken_ = true;
    }
    if (!asked_ || beat(now) != beat(asked_at_)) {
      asked_ = true;
      taken_ = false;
      asked_at_ = now;
      thread_.begin();
    }
    return latest_;
  }

  /// Another period from here on, above zero. Thread: the caller of poll().
  void every(Duration period) { every_ = period; }

  /// How long the end waits for a question under way and for what the function puts back; half a
  /// second unless told.
  void patience(Duration at_the_end) { thread_.patience(at_the_end); }

 private:
  [[nodiscard]] Duration::rep beat(TimePoint at) const { return at.time_since_epoch() / every_; }

  std::shared_ptr<T> answer_;  // the thread's while it is busy
  std::optional<T> latest_;
  Duration every_;
  Duration limit_;
  TimePoint asked_at_{};
  bool asked_ = false;
  bool taken_ = false;
  detail::AsideThread thread_;
};

}  // namespace waggle
