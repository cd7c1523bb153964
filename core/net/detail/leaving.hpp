// SPDX-License-Identifier: MIT
#pragma once

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>

#include "core/base/runtime.hpp"

namespace waggle::net {

/// Whether the calling coroutine was asked to leave: operations that may succeed without suspending
/// look first.
///
///     auto const state = co_await asio::this_coro::cancellation_state;
///     if (left(state)) …
///
/// No coroutine of its own: this is asked several times a packet.
[[nodiscard]] inline bool left(asio::cancellation_state const& state) noexcept {
  return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace waggle::net
