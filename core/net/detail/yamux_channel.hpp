// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/signal.hpp"

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
    waiting = waiting.subspan(n);
    if (std::exchange(handed, handed + n) == 0) readable.notify_all();
    return n;
  }

  void append(ByteView body) {
    if (head > 0 && head >= arrived.size() / 2) {
      arrived.erase(arrived.begin(), arrived.begin() + static_cast<std::ptrdiff_t>(head));
      head = 0;
    }
    waggle::append(arrived, body);
    readable.notify_all();
  }

  std::size_t take(MutableBytes out) noexcept {
    auto const n = std::min(out.size(), arrived.size() - head);
    std::copy_n(arrived.begin() + static_cast<std::ptrdiff_t>(head), n, out.begin());
    head += n;
    if (head == arrived.size()) {
      head = 0;
      arrived.clear();
      if (arrived.capacity() > kKeep) arrived = Bytes();
    }
    return n;
  }

  /// Forgets what was not read; how much it was.
  std::size_t discard() noexcept {
    auto const n = arrived.size() - head;
    arrived = Bytes();
    head = 0;
    return n;
  }

  static constexpr std::size_t kKeep = 64u << 10;

  std::uint32_t const id;
  Signal readable;
  Signal writable;
  Bytes arrived;
  std::size_t head = 0;  // read of arrived
  MutableBytes waiting;  // a pending read's room
  std::size_t handed = 0;
  bool reading = false;
  bool peer_finished = false;
  bool finished = false;  // by us
  bool released = false;  // no handle any more
  int lingered = 0;
  std::optional<Error> failure;
};

}  // namespace waggle::net
