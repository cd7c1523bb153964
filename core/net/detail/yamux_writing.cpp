// SPDX-License-Identifier: MIT
// What goes out: writers queue frames or lend their bodies, one coroutine seals them.
#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/yamux_core.hpp"

namespace waggle::net {
namespace {

// Plaintext that waits for the socket. Larger: control frames wait longer behind data; smaller:
// more system calls.
constexpr std::size_t kMaxQueued = 256u << 10;
// Of a stranger: hundreds of busy ones must not hold a megabyte each.
constexpr std::size_t kStrangersQueued = 32u << 10;
// Bodies from here on go out from where they lie; copying less is cheaper than waiting until it is
// out.
constexpr std::size_t kLend = 4u << 10;
// So that small frames before it fit the same Noise message.
constexpr std::size_t kLongestBody = 64'000;

}  // namespace

std::size_t YamuxConnection::Core::max_queued() const noexcept {
  return options_.stranger ? kStrangersQueued : kMaxQueued;
}

void YamuxConnection::Core::kick() noexcept {
  if (queue_.empty()) return;
  queued_peak_ = std::max(queued_peak_, queue_.size());
  outgoing_.notify_all();
}

Co<void> YamuxConnection::Core::write_loop(std::shared_ptr<Core> self) {
  Bytes sending;
  std::vector<Lent> bodies;
  std::vector<ByteView> pieces;
  for (;;) {
    while (self->queue_.empty() && !self->end_) {
      auto const waited = co_await self->outgoing_.wait();
      if (!waited) co_return;
    }
    if (self->end_) co_return;
    std::swap(sending, self->queue_);
    std::swap(bodies, self->lent_);
    self->lent_bytes_ = 0;
    pieces.clear();
    std::size_t from = 0;
    for (auto const& lent : bodies) {
      pieces.push_back(ByteView(sending).subspan(from, lent.at - from));
      pieces.push_back(lent.body);
      from = lent.at;
      // It wakes after we have suspended; the pipe has taken everything by then.
      if (--lent.channel->lent == 0) lent.channel->writable.notify_all();
    }
    pieces.push_back(ByteView(sending).subspan(from));
    self->writing_ = true;
    self->space_.notify_one();
    TimePoint const deadline = self->runtime.now() + self->options_.write_stall;
    std::span<ByteView const> const all(pieces);
    auto const written = co_await self->pipe_->write_pieces(all, deadline);
    self->writing_ = false;
    if (!written) {
      self->end(written.error());
      co_return;
    }
    self->session_.flushed();
    sending.clear();
    bodies.clear();
    if (sending.capacity() > 2 * kMaxQueued) sending.shrink_to_fit();
    if (self->queue_.empty()) self->ended_.notify_all();  // close() waits for this
  }
}

std::optional<Error> YamuxConnection::Core::write_failure(YamuxChannel const& channel) const {
  if (channel.failure) return channel.failure;
  if (end_) return Error{Errc::closed, end_->detail};
  if (channel.finished) return Error{Errc::closed, "write after close_write"};
  return std::nullopt;
}

// The writer must not look at a buffer whose owner leaves.
void YamuxConnection::Core::own(YamuxChannel const& channel) {
  if (channel.lent == 0) return;
  Bytes joined;
  std::size_t from = 0;
  std::vector<Lent> others;
  for (auto& lent : lent_) {
    append(joined, ByteView(queue_).subspan(from, lent.at - from));
    from = lent.at;
    if (lent.channel.get() == &channel) {
      append(joined, lent.body);
      lent_bytes_ -= lent.body.size();
      --lent.channel->lent;
      continue;
    }
    lent.at = joined.size();
    others.push_back(std::move(lent));
  }
  append(joined, ByteView(queue_).subspan(from));
  queue_ = std::move(joined);
  lent_ = std::move(others);
}

// Large bodies stay where they are until the writer has sealed them.
//
// Writers take turns, a frame each: one that has waited is woken by its predecessor, and one that
// comes while others wait goes to the end of the line.
Co<Status> YamuxConnection::Core::write(std::shared_ptr<Core> self,
                                        std::shared_ptr<YamuxChannel> channel,
                                        ByteView in,
                                        TimePoint deadline) {
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "write"};
  auto const written = co_await self->enqueue(channel, in, deadline);
  Status taken = ok();
  while (written && taken && channel->lent > 0 && !self->end_)
    taken = co_await channel->writable.wait(deadline);
  if (channel->lent == 0) co_return written;
  self->own(*channel);
  if (!written) co_return written;
  if (!taken) co_return taken;
  co_return Error{Errc::closed, self->end_->detail};
}

Co<Status> YamuxConnection::Core::enqueue(std::shared_ptr<YamuxChannel> channel,
                                          ByteView in,
                                          TimePoint deadline) {
  bool my_turn = false;
  while (!in.empty()) {
    if (auto failure = write_failure(*channel)) {
      if (my_turn) space_.notify_one();
      co_return *std::move(failure);
    }
    if (session_.credit(channel->id) == 0) {
      if (std::exchange(my_turn, false)) space_.notify_one();
      WAGGLE_CO_TRY_STATUS(co_await channel->writable.wait(deadline));
      continue;
    }
    bool const room = queued() < max_queued();
    if (!room || (writers_waiting_ > 0 && !my_turn)) {
      ++writers_waiting_;
      auto waited = co_await space_.wait(deadline);
      --writers_waiting_;
      if (!waited) {
        if (queued() < max_queued()) space_.notify_one();
        co_return std::move(waited).error();
      }
      my_turn = true;
      continue;
    }
    auto const n = session_.reserve(channel->id, std::min(in.size(), kLongestBody), queue_);
    if (n >= kLend) {
      lent_.push_back({queue_.size(), in.first(n), channel});
      lent_bytes_ += n;
      ++channel->lent;
    } else {
      append(queue_, in.first(n));
      note_copy(Copied::send, n);
    }
    in = in.subspan(n);
    kick();
    my_turn = false;
    if (queued() < max_queued()) space_.notify_one();
  }
  co_return ok();
}

}  // namespace waggle::net
