// SPDX-License-Identifier: MIT
// What comes in: frames to events, bodies to their channels, and what readers take.
#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/adaptive_size.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/yamux_core.hpp"

namespace waggle::net {
namespace {

constexpr std::size_t kSmallestRead = 4u << 10;
constexpr std::size_t kLargestRead = 128u << 10;
// Of a stranger: hundreds of busy ones must not hold a megabyte each.
constexpr std::size_t kStrangersRead = 16u << 10;

}  // namespace

Co<void> YamuxConnection::Core::read_loop(std::shared_ptr<Core> self) {
  AdaptiveSize size(kSmallestRead, kLargestRead);
  Block& in = self->in_;
  in = std::make_shared<Recycled>(Bytes(size.size()));
  std::size_t have = 0;
  while (!self->end_) {
    size.limit(self->options_.stranger ? kStrangersRead : kLargestRead);
    // Only a header may be left over, so the block can be exchanged at little cost.
    if (in->bytes.size() != size.size()) {
      auto other = std::make_shared<Recycled>(take_buffer(size.size()));
      std::copy_n(in->bytes.begin(), have, other->bytes.begin());
      note_copy(Copied::receive, have);
      in = std::move(other);
    }
    MutableBytes const room = MutableBytes(in->bytes).subspan(have);
    auto const n = co_await self->pipe_->read_some(room, kNoDeadline);
    if (!n) {
      self->end(n.error());
      break;
    }
    if (*n == 0) {
      self->end(Error{Errc::closed, "the peer closed the connection"});
      break;
    }
    self->last_heard_ = self->runtime.now();
    size.note(have + *n);
    have += *n;
    auto const used = self->parse(ByteView(in->bytes).first(have));
    if (!used) {
      self->end(used.error());
      break;
    }
    have -= *used;
    if (in.use_count() > 1) {  // a stream keeps it
      auto other = std::make_shared<Recycled>(take_buffer(size.size()));
      std::copy_n(
          in->bytes.begin() + static_cast<std::ptrdiff_t>(*used), have, other->bytes.begin());
      in = std::move(other);
    } else {
      std::copy_n(in->bytes.begin() + static_cast<std::ptrdiff_t>(*used), have, in->bytes.begin());
    }
    note_copy(Copied::receive, have);
    self->kick();
  }
}

Result<std::size_t> YamuxConnection::Core::parse(ByteView in) {
  std::size_t used = 0;
  while (used < in.size() && !end_) {
    ByteView const rest = in.subspan(used);
    if (body_left_ > 0) {
      auto const n = std::min<std::size_t>(rest.size(), body_left_);
      on_body(rest.first(n));
      body_left_ -= static_cast<std::uint32_t>(n);
      used += n;
    } else if (rest.size() >= yamux::kHeaderBytes) {
      WAGGLE_TRY_STATUS(on_header(rest.first<yamux::kHeaderBytes>()));
      used += yamux::kHeaderBytes;
    } else {
      break;
    }
    if (body_left_ == 0) after_body();
  }
  return used;
}

Status YamuxConnection::Core::on_header(std::span<std::byte const, yamux::kHeaderBytes> in) {
  WAGGLE_TRY(frame_, session_.on_header(in, queue_));
  body_left_ = frame_.body;
  if (frame_.opened) inbound_(make_stream(frame_.stream));
  if (frame_.acked) opening_.notify_one();
  if (frame_.credit)
    if (auto const found = channels_.find(frame_.stream); found != channels_.end())
      found->second->writable.notify_all();
  if (frame_.pong && *frame_.pong == ping_value_ && ping_sent_ != TimePoint{}) {
    round_trip_ = runtime.now() - ping_sent_;
    ping_sent_ = {};
    pong_.notify_all();
  }
  if (frame_.go_away && *frame_.go_away != yamux::Reason::normal)
    end(Error{Errc::closed, cat("the peer ended the session, reason ", *frame_.go_away)});
  return ok();
}

void YamuxConnection::Core::on_body(ByteView body) {
  if (!frame_.deliver) return;
  auto const found = channels_.find(frame_.stream);
  if (found == channels_.end()) return;
  YamuxChannel& channel = *found->second;
  if (channel.released) return;
  std::size_t const direct = channel.hand_over(body);
  grant(channel.id, direct);
  ByteView const rest = body.subspan(direct);
  if (rest.empty()) return;
  if (buffered_ + rest.size() > options_.max_buffered) {
    session_.reset(channel.id, queue_);
    drop(channel,
         Error{Errc::too_large,
               cat("more than ", options_.max_buffered, " bytes wait on one connection")});
    return;
  }
  buffered_ += rest.size();
  channel.append(rest, in_);
  auto const kept = found->second;
  if (kept->share) kept->share->grow(rest.size());  // may reset this stream, too
}

void YamuxConnection::Core::count(YamuxChannel& channel) {
  if (!options_.backlog) return;
  channel.share.emplace(options_.backlog,
                        [self = weak_from_this(), raw = &channel] { evict(self, *raw); });
}

void YamuxConnection::Core::count_in(std::shared_ptr<Backlog> backlog) {
  if (backlog == options_.backlog) return;
  options_.backlog = std::move(backlog);
  options_.stranger = false;
  session_.set_max_window(yamux::Limits{}.max_window);
  auto const all = channels_;  // an entry that grows may end a stream
  for (auto const& [id, channel] : all) {
    count(*channel);
    if (channel->share) channel->share->grow(channel->arrived.size());
  }
}

// All connections together hold too much, and this stream has not moved for the longest time.
void YamuxConnection::Core::evict(std::weak_ptr<Core> const& connection, YamuxChannel& channel) {
  auto const self = connection.lock();
  if (!self) return;
  auto const found = self->channels_.find(channel.id);
  if (found == self->channels_.end() || found->second.get() != &channel) return;
  auto const kept = found->second;
  self->reset(*kept);
}

void YamuxConnection::Core::grant(std::uint32_t id, std::size_t n) {
  if (n == 0 || end_) return;
  session_.consumed(id, n, runtime.now(), round_trip_.value_or(Duration{0}), queue_);
}

void YamuxConnection::Core::after_body() {
  if (!frame_.fin && !frame_.rst) return;
  auto const found = channels_.find(frame_.stream);
  if (found == channels_.end()) return;
  auto const channel = found->second;
  if (frame_.fin) channel->peer_finished = true;
  channel->readable.notify_all();
  if (frame_.rst) {
    drop(*channel, Error{Errc::closed, "the peer reset the stream"});
    opening_.notify_one();
  } else if (!session_.alive(channel->id)) {
    channels_.erase(channel->id);
  }
  frame_.fin = frame_.rst = false;
}

// The stream is gone from the session; whoever waits on it is told why.
void YamuxConnection::Core::drop(YamuxChannel& channel, Error why) noexcept {
  auto const id = channel.id;
  auto const unread = channel.arrived.clear();
  buffered_ -= unread;
  if (channel.share) channel.share->shrink(unread);
  channel.failure = std::move(why);
  channel.readable.notify_all();
  channel.writable.notify_all();
  channels_.erase(id);
}

Co<Result<std::size_t>> YamuxConnection::Core::read(std::shared_ptr<Core> self,
                                                    std::shared_ptr<YamuxChannel> channel,
                                                    MutableBytes out,
                                                    TimePoint deadline) {
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "read"};
  WAGGLE_ASSERT(!channel->reading, "two reads of one stream at a time");
  for (;;) {
    if (channel->failure) co_return *channel->failure;
    if (std::size_t const n = channel->arrived.take(out); n > 0) {
      self->buffered_ -= n;
      if (channel->share) channel->share->shrink(n);
      self->grant(channel->id, n);
      self->kick();
      co_return n;
    }
    if (channel->peer_finished) co_return std::size_t{0};
    if (self->end_) co_return Error{Errc::closed, self->end_->detail};
    channel->reading = true;
    channel->waiting = out;
    channel->handed = 0;
    auto const waited = co_await channel->readable.wait(deadline);
    channel->reading = false;
    channel->waiting = {};
    if (channel->handed > 0) co_return channel->handed;
    if (!waited) co_return waited.error();
  }
}

}  // namespace waggle::net
