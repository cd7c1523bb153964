// SPDX-License-Identifier: MIT
#include "core/node/control/detail/outbox.hpp"

namespace waggle::node::control::detail {

void Outbox::push(Bytes frame) {
  if (finished_ || dropped_) return;
  frames_.push_back(std::move(frame));
  changed_.notify_all();
}

void Outbox::finish() {
  finished_ = true;
  changed_.notify_all();
}

void Outbox::drop() {
  dropped_ = true;
  changed_.notify_all();
}

Co<Status> Outbox::room(std::size_t most) {
  while (!dropped_ && frames_.size() >= most) {
    auto waited = co_await changed_.wait();
    if (!waited) co_return std::move(waited).error();
  }
  if (dropped_ || finished_) co_return Error{Errc::closed, "the stream ends"};
  co_return ok();
}

Co<void> Outbox::run(net::Stream& stream) {
  auto& runtime = changed_.runtime();
  while (!dropped_) {
    if (frames_.empty()) {
      if (finished_) break;
      auto const waited = co_await changed_.wait();
      if (!waited) break;
      continue;
    }
    auto const frame = std::move(frames_.front());
    auto const written = co_await net::write_frame(stream, frame, runtime.now() + kPatience);
    if (!written) {
      drop();
      stream.reset();
      co_return;
    }
    frames_.pop_front();
    changed_.notify_all();
  }
  if (!dropped_) (void)co_await stream.close_write(runtime.now() + kPatience);
  drop();
}

}  // namespace waggle::node::control::detail
