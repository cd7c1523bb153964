// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/base/scope.hpp"
#include "core/net/stream.hpp"
#include "core/net/yamux.hpp"

namespace waggle::net {

class Backlog;

struct YamuxOptions {
  /// What this and other connections hold together; null: nobody counts.
  std::shared_ptr<Backlog> backlog;
  bool stranger = false;  ///< smaller buffers, until count_in()
  yamux::Limits limits;
  /// Received and not read yet, all streams together. What arrives beyond it resets its stream.
  /// Larger: slow handlers hold more memory; smaller: fast senders meet resets.
  std::size_t max_buffered = 64u << 20;
  Duration keep_alive = std::chrono::seconds(30);   ///< between pings
  Duration ping_answer = std::chrono::seconds(20);  ///< silent for longer after a ping: closed
  Duration write_stall = std::chrono::seconds(60);  ///< the socket takes nothing: closed
};

/// A yamux session over a pipe: many Streams in one. One coroutine reads, one writes, one pings; a
/// slow reader of one stream never holds up the others (its credit ends, the pipe goes on).
///
/// Destroying a stream's handle resets it. Streams may outlive the connection; they then fail with
/// `closed` after what had arrived was read.
/// Thread: the network thread. Source: spec/libp2p.md section 8.
class YamuxConnection {
 public:
  class Core;

  /// `inbound` is called for each stream that the peer opens, on the reader's coroutine: it must
  /// only spawn. The coroutines run in `scope`, which is closed before this is destroyed.
  YamuxConnection(Runtime& runtime,
                  std::unique_ptr<Stream> pipe,
                  yamux::Session::Role role,
                  YamuxOptions options,
                  Scope& scope,
                  std::function<void(std::unique_ptr<Stream>)> inbound);
  ~YamuxConnection();

  /// Opens a stream; does not wait for its acknowledgement. Waits while max_unacked are open.
  /// Errors: closed, refused (the peer is about to close), timeout, cancelled.
  [[nodiscard]] Co<Result<std::unique_ptr<Stream>>> open(TimePoint deadline);

  /// Resumes when the session has ended, by whichever side. Errors: cancelled.
  [[nodiscard]] Co<Status> ended();
  /// Why it ended; nothing while it lives.
  [[nodiscard]] std::optional<Error> why() const;
  /// GoAway, then what is queued goes out, until `deadline`; then the pipe is reset.
  [[nodiscard]] Co<void> close(TimePoint deadline);
  /// From here on its streams count to this backlog, and the peer is no stranger.
  void count_in(std::shared_ptr<Backlog> backlog);
  /// Ends the session at once.
  void abort(Error why) noexcept;

  [[nodiscard]] bool alive() const noexcept;
  [[nodiscard]] std::size_t streams() const noexcept;
  /// When the last frame came in.
  [[nodiscard]] TimePoint last_heard() const noexcept;
  [[nodiscard]] std::optional<Duration> round_trip() const noexcept;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace waggle::net
