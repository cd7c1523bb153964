// SPDX-License-Identifier: MIT
#include "core/base/runtime.hpp"

#include <bit>

#include <asio/this_coro.hpp>

#include "core/base/assert.hpp"
#include "core/base/detail/waiter.hpp"

namespace waggle {

Co<Status> Runtime::sleep_until(TimePoint deadline) {
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const leaving = detail::cancel_requested(state);
  if (leaving) co_return Error{Errc::cancelled, "sleep"};
  std::function<void(std::shared_ptr<detail::Waiter>)> nobody =
      [](std::shared_ptr<detail::Waiter>) {};
  auto const reason =
      co_await detail::suspend(*this, deadline, detail::Cancellable::yes, std::move(nobody));
  if (reason == Errc::cancelled) co_return Error{Errc::cancelled, "sleep"};
  co_return ok();
}

std::uint64_t Runtime::random_u64() noexcept {
  std::uint64_t value = 0;
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

double Runtime::random_unit() noexcept {
  return static_cast<double>(random_u64() >> 11) * 0x1.0p-53;
}

std::uint64_t Runtime::random_below(std::uint64_t bound) noexcept {
  WAGGLE_ASSERT(bound > 0);
  // Rejection keeps it uniform: draw as many bits as the largest value needs.
  auto const bits = std::bit_width(bound - 1);
  if (bits == 0) return 0;
  for (;;) {
    std::uint64_t const draw = random_u64() >> (64 - bits);
    if (draw < bound) return draw;
  }
}

}  // namespace waggle
