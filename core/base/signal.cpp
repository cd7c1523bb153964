// SPDX-License-Identifier: MIT
#include "core/base/signal.hpp"

#include <algorithm>

#include <asio/this_coro.hpp>

#include "core/base/assert.hpp"
#include "core/base/detail/waiter.hpp"

namespace waggle {

Signal::~Signal() {
  bool const awaited =
      std::any_of(waiters_.begin(), waiters_.end(), [](auto const& w) { return !w->done(); });
  WAGGLE_ASSERT(!awaited, "a Signal was destroyed under its waiters; close their Scope first");
}

Co<Status> Signal::wait(TimePoint deadline) {
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const leaving = detail::cancel_requested(state);
  if (leaving) co_return Error{Errc::cancelled, "wait"};
  std::erase_if(waiters_, [](auto const& w) { return w->done(); });
  std::function<void(std::shared_ptr<detail::Waiter>)> enlist =
      [this](std::shared_ptr<detail::Waiter> w) { waiters_.push_back(std::move(w)); };
  auto const reason =
      co_await detail::suspend(runtime_, deadline, detail::Cancellable::yes, std::move(enlist));
  if (reason)
    co_return Error{*reason, *reason == Errc::timeout ? "deadline passed while waiting" : "wait"};
  co_return ok();
}

Co<void> Signal::wait_uncancelled() {
  std::function<void(std::shared_ptr<detail::Waiter>)> enlist =
      [this](std::shared_ptr<detail::Waiter> w) { waiters_.push_back(std::move(w)); };
  (void)co_await detail::suspend(runtime_, kNoDeadline, detail::Cancellable::no, std::move(enlist));
}

void Signal::notify_all() noexcept {
  auto const waiters = std::exchange(waiters_, {});
  for (auto const& waiter : waiters) waiter->complete(std::nullopt);
}

void Signal::notify_one() noexcept {
  auto const first =
      std::find_if(waiters_.begin(), waiters_.end(), [](auto const& w) { return !w->done(); });
  if (first == waiters_.end()) {
    waiters_.clear();
    return;
  }
  auto const waiter = *first;
  waiters_.erase(waiters_.begin(), first + 1);
  waiter->complete(std::nullopt);
}

}  // namespace waggle
