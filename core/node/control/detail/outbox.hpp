// SPDX-License-Identifier: MIT
#pragma once

#include <deque>

#include "core/base/signal.hpp"
#include "core/net/stream.hpp"

namespace waggle::node::control::detail {

/// What is still to be written on one stream, in order, by one coroutine. Thread: the network
/// thread.
class Outbox {
 public:
  static constexpr std::size_t kMost = 16;  ///< frames; who does not read is not read either
  static constexpr Duration kPatience = std::chrono::seconds(20);  ///< for one frame

  explicit Outbox(Runtime& runtime) : changed_(runtime) {}

  void push(Bytes frame);
  /// No more will come: run() ends once all is written.
  void finish();
  /// Nothing more is written.
  void drop();

  /// Waits for less than `most` frames. Errors: closed (nothing is written any more), cancelled.
  [[nodiscard]] Co<Status> room(std::size_t most = kMost);
  /// Writes until finish(), drop() or an error, which resets the stream.
  [[nodiscard]] Co<void> run(net::Stream& stream);

 private:
  std::deque<Bytes> frames_;
  bool finished_ = false;
  bool dropped_ = false;
  Signal changed_;
};

}  // namespace waggle::node::control::detail
