// SPDX-License-Identifier: MIT
#include "core/base/scope.hpp"

#include <exception>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include "core/base/assert.hpp"

namespace waggle {

struct Scope::Child {
  explicit Child(std::string_view n) : name(n) {}

  std::string name;
  std::shared_ptr<asio::cancellation_signal> cancel = std::make_shared<asio::cancellation_signal>();
};

namespace {

// Errors, not exceptions, tell our coroutines that they are cancelled, so that clean-up may await.
Co<void> run(Co<void> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(work);
}

}  // namespace

Scope::Scope(Runtime& runtime) : runtime_(runtime), drained_(runtime) {
}

Scope::~Scope() {
  WAGGLE_ASSERT(children_.empty(),
                children_.size(),
                " coroutines outlive their Scope, the first is ",
                children_.empty() ? "" : children_.front()->name);
}

void Scope::spawn(std::string_view name, Co<void> work) {
  auto const child = children_.insert(children_.end(), std::make_unique<Child>(name));
  auto finished = [this, child](std::exception_ptr failure) {
    if (failure) {
      std::string what = "unknown exception";
      try {
        std::rethrow_exception(failure);
      } catch (std::exception const& e) {
        what = e.what();
      } catch (...) {
      }
      WAGGLE_ASSERT(!failure, "coroutine ", (*child)->name, " leaked an exception: ", what);
    }
    children_.erase(child);
    if (children_.empty()) drained_.notify_all();
  };
  asio::co_spawn(runtime_.executor(),
                 run(std::move(work)),
                 asio::bind_cancellation_slot((*child)->cancel->slot(), std::move(finished)));
  if (cancelled_) {
    // The coroutine has not begun; it must find the request when it does. It may have ended by
    // then, if it never waits.
    std::weak_ptr<asio::cancellation_signal> const weak = (*child)->cancel;
    asio::post(runtime_.executor(), [weak] {
      if (auto const signal = weak.lock()) signal->emit(asio::cancellation_type::terminal);
    });
  }
}

void Scope::cancel() noexcept {
  if (cancelled_) return;
  cancelled_ = true;
  for (auto const& child : children_) child->cancel->emit(asio::cancellation_type::terminal);
}

Co<void> Scope::close() {
  cancel();
  while (!children_.empty()) co_await drained_.wait_uncancelled();
}

Co<Status> Scope::join(TimePoint deadline) {
  while (!children_.empty()) {
    auto waited = co_await drained_.wait(deadline);
    if (!waited) co_return std::move(waited).error();
  }
  co_return ok();
}

}  // namespace waggle
