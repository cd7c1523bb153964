// SPDX-License-Identifier: MIT
#pragma once

#include <unordered_map>
#include <utility>

#include "core/net/detail/yamux_channel.hpp"
#include "core/net/yamux_connection.hpp"

namespace waggle::net {

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

  [[nodiscard]] std::size_t max_queued() const noexcept;

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

}  // namespace waggle::net
