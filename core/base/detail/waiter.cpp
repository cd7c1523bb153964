// SPDX-License-Identifier: MIT
#include "core/base/detail/waiter.hpp"

#include <utility>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_state.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "core/base/assert.hpp"

namespace waggle::detail {
namespace {

template <class Handler>
class HandlerWaiter final : public Waiter {
 public:
  HandlerWaiter(Runtime& runtime, Handler handler)
      : runtime_(runtime), handler_(std::move(handler)) {}

  void arm(TimePoint deadline, Cancellable cancellable) {
    if (deadline != kNoDeadline)
      timer_ = runtime_.call_at(deadline,
                                [self = shared_from_this()] { self->complete(Errc::timeout); });
    auto slot = asio::get_associated_cancellation_slot(*handler_);
    if (cancellable == Cancellable::yes && slot.is_connected())
      slot.assign([self = shared_from_this()](asio::cancellation_type) {
        self->complete(Errc::cancelled);
      });
  }

  void complete(std::optional<Errc> reason) noexcept override {
    if (done_) return;
    done_ = true;
    if (timer_) runtime_.cancel(*timer_);
    // Posted: the slot may hold the last reference to us, and the completer must not be re-entered.
    asio::post(runtime_.executor(), [self = shared_from_this(), this, reason] { resume(reason); });
  }

  [[nodiscard]] bool done() const noexcept override { return done_; }

 private:
  void resume(std::optional<Errc> reason) {
    auto slot = asio::get_associated_cancellation_slot(*handler_);
    if (slot.is_connected()) slot.clear();
    Handler handler = std::move(*handler_);
    handler_.reset();
    std::move(handler)(reason);
  }

  Runtime& runtime_;
  std::optional<Handler> handler_;
  std::optional<Runtime::TimerId> timer_;
  bool done_ = false;
};

}  // namespace

Co<std::optional<Errc>> suspend(Runtime& runtime,
                                TimePoint deadline,
                                Cancellable cancellable,
                                std::function<void(std::shared_ptr<Waiter>)> enlist) {
  auto initiate = [&](auto handler) {
    auto waiter = std::make_shared<HandlerWaiter<decltype(handler)>>(runtime, std::move(handler));
    waiter->arm(deadline, cancellable);
    enlist(std::move(waiter));
  };
  co_return co_await asio::async_initiate<asio::use_awaitable_t<> const, void(std::optional<Errc>)>(
      initiate, asio::use_awaitable);
}

bool cancel_requested(asio::cancellation_state const& state) {
  constexpr int kPatience = 10'000;
  static thread_local int found = 0;
  bool const requested = state.cancelled() != asio::cancellation_type::none;
  if (!requested)
    found = 0;
  else
    ++found;
  WAGGLE_ASSERT(found < kPatience, "a coroutine goes on after Errc::cancelled");
  return requested;
}

}  // namespace waggle::detail
