// SPDX-License-Identifier: MIT
#pragma once

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>

#include "core/base/runtime.hpp"

namespace waggle::net {

/// Whether the calling coroutine was asked to leave: operations that may succeed without suspending
/// look first.
inline Co<bool> leaving() {
  auto const state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace waggle::net
