// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/copies.hpp"
#include "core/base/signal.hpp"
#include "core/net/detail/arrivals.hpp"
#include "core/net/detail/backlog.hpp"

namespace waggle::net {

/// One stream's half of a YamuxConnection: what has arrived and who waits. The protocol's own state
/// (credit, ids) is yamux::Session's.
struct YamuxChannel {
  YamuxChannel(Runtime& runtime, std::uint32_t number)
      : id(number), readable(runtime), writable(runtime) {}

  /// Gives to a reader that waits already what fits: one copy instead of two.
  std::size_t hand_over(ByteView body) noexcept {
    if (!arrived.empty() || waiting.empty()) return 0;
    auto const n = std::min(body.size(), waiting.size());
    std::copy_n(body.begin(), n, waiting.begin());
    note_copy(Copied::receive, n);
    waiting = waiting.subspan(n);
    if (std::exchange(handed, handed + n) == 0) readable.notify_all();
    return n;
  }

  void append(ByteView body, Block const& block) {
    arrived.push(body, block);
    readable.notify_all();
  }

  std::uint32_t const id;
  Signal readable;
  Signal writable;
  Arrivals arrived;
  MutableBytes waiting;  // a pending read's room
  std::size_t handed = 0;
  bool reading = false;
  std::size_t lent = 0;  // bodies of a pending write that the connection's writer has not taken
  bool peer_finished = false;
  bool finished = false;  // by us
  bool released = false;  // no handle any more
  int lingered = 0;
  std::optional<Backlog::Entry> share;  // of what all connections hold; unset: nobody counts
  std::optional<Error> failure;
};

}  // namespace waggle::net
