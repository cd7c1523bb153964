// SPDX-License-Identifier: MIT
#include "core/net/yamux_connection.hpp"

#include <unordered_map>
#include <utility>

#include "core/base/assert.hpp"
#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/adaptive_size.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/yamux_channel.hpp"

namespace waggle::net {
namespace {

// Plaintext that waits for the socket. Larger: control frames wait longer behind data; smaller:
// more system calls.
constexpr std::size_t kMaxQueued = 256u << 10;
constexpr std::size_t kSmallestRead = 4u << 10;
constexpr std::size_t kLargestRead = 128u << 10;
// Of a stranger: hundreds of busy ones must not hold a megabyte each.
constexpr std::size_t kStrangersQueued = 32u << 10;
constexpr std::size_t kStrangersRead = 16u << 10;
// Bodies from here on go out from where they lie; copying less is cheaper than waiting until it is
// out.
constexpr std::size_t kLend = 4u << 10;
// So that small frames before it fit the same Noise message.
constexpr std::size_t kLongestBody = 64'000;
// A stream we have closed whose peer never closes its side is reset after so many pings.
constexpr int kLingerTicks = 4;

}  // namespace

using yamux::Session;

/// What the connection, its coroutines and its streams share.
class YamuxConnection::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Runtime& r,
       std::unique_ptr<Stream> pipe,
       Session::Role role,
       YamuxOptions options,
       std::function<void(std::unique_ptr<Stream>)> inbound)
      : runtime(r),
        options_(options),
        pipe_(std::move(pipe)),
        inbound_(std::move(inbound)),
        session_(role, options.limits),
        outgoing_(r),
        space_(r),
        opening_(r),
        ended_(r),
        pong_(r),
        last_heard_(r.now()) {}

  // The connection's coroutines.
  static Co<void> read_loop(std::shared_ptr<Core> self);
  static Co<void> write_loop(std::shared_ptr<Core> self);
  static Co<void> ping_loop(std::shared_ptr<Core> self);

  // What streams ask for.
  static Co<Result<std::unique_ptr<Stream>>> open(std::shared_ptr<Core> self, TimePoint deadline);
  static Co<Result<std::size_t>> read(std::shared_ptr<Core> self,
                                      std::shared_ptr<YamuxChannel> channel,
                                      MutableBytes out,
                                      TimePoint deadline);
  static Co<Status> write(std::shared_ptr<Core> self,
                          std::shared_ptr<YamuxChannel> channel,
                          ByteView in,
                          TimePoint deadline);
  Co<Status> enqueue(std::shared_ptr<YamuxChannel> channel, ByteView in, TimePoint deadline);
  Status finish(YamuxChannel& channel);
  void reset(YamuxChannel& channel) noexcept;
  void release(std::shared_ptr<YamuxChannel> const& channel) noexcept;

  static Co<Status> ended(std::shared_ptr<Core> self);
  static Co<void> close(std::shared_ptr<Core> self, TimePoint deadline);
  void end(Error why) noexcept;

  Runtime& runtime;

 private:
  friend class YamuxConnection;

  [[nodiscard]] std::unique_ptr<Stream> make_stream(std::uint32_t id);
  [[nodiscard]] Result<std::size_t> parse(ByteView in);
  [[nodiscard]] Status on_header(std::span<std::byte const, yamux::kHeaderBytes> in);
  void on_body(ByteView body);

  [[nodiscard]] std::size_t max_queued() const noexcept {
    return options_.stranger ? kStrangersQueued : kMaxQueued;
  }

  void count(YamuxChannel& channel);
  void count_in(std::shared_ptr<Backlog> backlog);
  static void evict(std::weak_ptr<Core> const& connection, YamuxChannel& channel);
  void grant(std::uint32_t id, std::size_t n);
  void after_body();
  void drop(YamuxChannel& channel, Error why) noexcept;
  void kick() noexcept;
  [[nodiscard]] std::optional<Error> write_failure(YamuxChannel const& channel) const;
  void reap_lingering() noexcept;

  /// Bytes that wait for the writer.
  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size() + lent_bytes_; }

  void own(YamuxChannel const& channel);

  /// A body in the caller's buffer, whose write() waits until the writer has taken it.
  struct Lent {
    std::size_t at;  // it goes out before this byte of the queue
    ByteView body;
    std::shared_ptr<YamuxChannel> channel;
  };

  YamuxOptions options_;
  std::unique_ptr<Stream> pipe_;
  std::function<void(std::unique_ptr<Stream>)> inbound_;
  Session session_;
  std::unordered_map<std::uint32_t, std::shared_ptr<YamuxChannel>> channels_;
  Bytes queue_;             // frames for the writer, without the bodies
  std::vector<Lent> lent_;  // of it, in order
  std::size_t lent_bytes_ = 0;
  bool writing_ = false;
  std::size_t queued_peak_ = 0;
  std::size_t writers_waiting_ = 0;
  Signal outgoing_;  // the queue has something
  Signal space_;     // the queue has room
  Signal opening_;   // a stream of ours may be opened
  Signal ended_;
  Signal pong_;
  std::optional<Error> end_;

  Block in_;  // what the reader reads into
  // Where the reader is inside a frame.
  Session::Event frame_;
  std::uint32_t body_left_ = 0;
  std::size_t buffered_ = 0;
  TimePoint last_heard_;

  std::uint32_t ping_value_ = 0;
  TimePoint ping_sent_{};
  std::optional<Duration> round_trip_;
};

namespace {

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

void YamuxConnection::Core::kick() noexcept {
  if (queue_.empty()) return;
  queued_peak_ = std::max(queued_peak_, queue_.size());
  outgoing_.notify_all();
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
