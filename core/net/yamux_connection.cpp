// SPDX-License-Identifier: MIT
#include "core/net/yamux_connection.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/yamux_core.hpp"

namespace waggle::net {
namespace {

// A stream we have closed whose peer never closes its side is reset after so many pings.
constexpr int kLingerTicks = 4;

class YamuxStream final : public Stream {
 public:
  YamuxStream(std::shared_ptr<YamuxConnection::Core> core, std::shared_ptr<YamuxChannel> channel)
      : core_(std::move(core)), channel_(std::move(channel)) {}

  ~YamuxStream() override { core_->release(channel_); }

  Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override {
    return YamuxConnection::Core::read(core_, channel_, out, deadline);
  }

  Co<Status> write(ByteView in, TimePoint deadline) override {
    return YamuxConnection::Core::write(core_, channel_, in, deadline);
  }

  Co<Status> close_write(TimePoint) override { return finish(core_, channel_); }

  void reset() noexcept override { core_->reset(*channel_); }

  void hold(std::ptrdiff_t bytes) noexcept override {
    auto const channel = channel_;
    if (!channel->share) return;
    if (bytes > 0) channel->share->grow(static_cast<std::size_t>(bytes));
    if (bytes < 0) channel->share->shrink(static_cast<std::size_t>(-bytes));
  }

 private:
  static Co<Status> finish(std::shared_ptr<YamuxConnection::Core> core,
                           std::shared_ptr<YamuxChannel> channel) {
    co_return core->finish(*channel);
  }

  std::shared_ptr<YamuxConnection::Core> core_;
  std::shared_ptr<YamuxChannel> channel_;
};

}  // namespace

std::unique_ptr<Stream> YamuxConnection::Core::make_stream(std::uint32_t id) {
  auto channel = std::make_shared<YamuxChannel>(runtime, id);
  count(*channel);
  channels_.emplace(id, channel);
  return std::make_unique<YamuxStream>(shared_from_this(), std::move(channel));
}

void YamuxConnection::Core::end(Error why) noexcept {
  if (end_) return;
  end_ = std::move(why);
  pipe_->reset();
  for (auto const& [id, channel] : channels_) {
    channel->readable.notify_all();
    channel->writable.notify_all();
  }
  channels_.clear();
  for (auto const& lent : lent_) lent.channel->writable.notify_all();
  outgoing_.notify_all();
  space_.notify_all();
  opening_.notify_all();
  ended_.notify_all();
  pong_.notify_all();
}

// A ping each keep_alive: it measures the round trip, and finds out that a silent peer has gone.
Co<void> YamuxConnection::Core::ping_loop(std::shared_ptr<Core> self) {
  while (!self->end_) {
    TimePoint const sent = self->runtime.now();
    ++self->ping_value_;
    self->ping_sent_ = sent;
    self->session_.ping(self->ping_value_, self->queue_);
    self->kick();
    TimePoint const limit = sent + self->options_.ping_answer;
    while (!self->end_ && self->ping_sent_ != TimePoint{}) {
      auto const waited = co_await self->pong_.wait(limit);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
      if (!waited) break;
    }
    if (self->last_heard_ < sent && !self->end_) {
      self->end(Error{Errc::timeout, "the peer does not answer pings"});
      co_return;
    }
    auto const slept = co_await self->runtime.sleep_until(sent + self->options_.keep_alive);
    if (!slept) co_return;
    self->reap_lingering();
    if (self->queue_.empty() && self->queued_peak_ < self->queue_.capacity() / 4)
      self->queue_.shrink_to_fit();
    self->queued_peak_ = 0;
  }
}

void YamuxConnection::Core::reap_lingering() noexcept {
  std::vector<std::shared_ptr<YamuxChannel>> old;
  for (auto const& [id, channel] : channels_)
    if (channel->released && ++channel->lingered >= kLingerTicks) old.push_back(channel);
  for (auto const& channel : old) reset(*channel);
}

Co<Result<std::unique_ptr<Stream>>> YamuxConnection::Core::open(std::shared_ptr<Core> self,
                                                                TimePoint deadline) {
  while (!self->end_ && !self->session_.may_open()) {
    WAGGLE_CO_TRY_STATUS(co_await self->opening_.wait(deadline));
  }
  if (self->end_) co_return *self->end_;
  WAGGLE_CO_TRY(auto const id, self->session_.open(self->queue_));
  self->kick();
  if (self->session_.may_open()) self->opening_.notify_one();
  co_return self->make_stream(id);
}

Status YamuxConnection::Core::finish(YamuxChannel& channel) {
  if (channel.failure) return *channel.failure;
  if (end_) return Error{Errc::closed, end_->detail};
  if (channel.finished) return ok();
  channel.finished = true;
  session_.finish(channel.id, queue_);
  if (!session_.alive(channel.id)) channels_.erase(channel.id);
  kick();
  return ok();
}

void YamuxConnection::Core::reset(YamuxChannel& channel) noexcept {
  if (channel.failure) return;
  session_.reset(channel.id, queue_);
  drop(channel, Error{Errc::closed, "the stream was reset here"});
  opening_.notify_one();
  kick();
}

// A handle is gone. Finished streams end quietly, because a reset would make the peer drop what it
// has not read yet; the peer's remaining bytes are swallowed.
void YamuxConnection::Core::release(std::shared_ptr<YamuxChannel> const& channel) noexcept {
  if (!channel->finished || end_ || channel->failure) {
    reset(*channel);
    return;
  }
  channel->released = true;
  auto const unread = channel->arrived.clear();
  buffered_ -= unread;
  if (channel->share) channel->share->shrink(unread);
  channel->readable.notify_all();
}

Co<Status> YamuxConnection::Core::ended(std::shared_ptr<Core> self) {
  while (!self->end_) {
    WAGGLE_CO_TRY_STATUS(co_await self->ended_.wait());
  }
  co_return ok();
}

Co<void> YamuxConnection::Core::close(std::shared_ptr<Core> self, TimePoint deadline) {
  if (self->end_) co_return;
  self->session_.go_away(yamux::Reason::normal, self->queue_);
  self->kick();
  while (!self->end_ && (self->writing_ || !self->queue_.empty())) {
    auto const waited = co_await self->ended_.wait(deadline);
    if (!waited) break;
  }
  self->end(Error{Errc::closed, "the connection was closed here"});
}

YamuxConnection::YamuxConnection(Runtime& runtime,
                                 std::unique_ptr<Stream> pipe,
                                 Session::Role role,
                                 YamuxOptions options,
                                 Scope& scope,
                                 std::function<void(std::unique_ptr<Stream>)> inbound)
    : core_(std::make_shared<Core>(runtime, std::move(pipe), role, options, std::move(inbound))) {
  scope.spawn("yamux reader", Core::read_loop(core_));
  scope.spawn("yamux writer", Core::write_loop(core_));
  scope.spawn("yamux pings", Core::ping_loop(core_));
}

YamuxConnection::~YamuxConnection() {
  abort(Error{Errc::closed, "the connection is gone"});
}

Co<Result<std::unique_ptr<Stream>>> YamuxConnection::open(TimePoint deadline) {
  return Core::open(core_, deadline);
}

Co<Status> YamuxConnection::ended() {
  return Core::ended(core_);
}

Co<void> YamuxConnection::close(TimePoint deadline) {
  return Core::close(core_, deadline);
}

void YamuxConnection::count_in(std::shared_ptr<Backlog> backlog) {
  core_->count_in(std::move(backlog));
}

void YamuxConnection::abort(Error why) noexcept {
  core_->end(std::move(why));
}

std::optional<Error> YamuxConnection::why() const {
  return core_->end_;
}

bool YamuxConnection::alive() const noexcept {
  return !core_->end_.has_value();
}

std::size_t YamuxConnection::streams() const noexcept {
  return core_->session_.size();
}

TimePoint YamuxConnection::last_heard() const noexcept {
  return core_->last_heard_;
}

std::optional<Duration> YamuxConnection::round_trip() const noexcept {
  return core_->round_trip_;
}

}  // namespace waggle::net
