// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/base/bytes.hpp"
#include "core/base/runtime.hpp"

namespace waggle::net::yamux {

/// Wire-stable.
enum class Type : std::uint8_t { data = 0, window_update = 1, ping = 2, go_away = 3 };
/// Wire-stable; bits.
constexpr std::uint16_t kSyn = 1, kAck = 2, kFin = 4, kRst = 8;
/// Wire-stable: GoAway's reasons.
enum class Reason : std::uint32_t { normal = 0, protocol_error = 1, internal_error = 2 };

constexpr std::size_t kHeaderBytes = 12;
constexpr std::uint32_t kInitialWindow = 256u << 10;  ///< both directions, fixed by the protocol
/// Header and body fill one Noise message.
constexpr std::uint32_t kMaxBody = 65519 - kHeaderBytes;

struct Header {
  Type type = Type::data;
  std::uint16_t flags = 0;
  std::uint32_t stream = 0;
  std::uint32_t length = 0;  ///< bytes that follow, credit, ping value or reason

  void append_to(Bytes& out) const;
  /// Errors: malformed (version, type).
  [[nodiscard]] static Result<Header> parse(std::span<std::byte const, kHeaderBytes> in);
};

/// What one connection may hold.
struct Limits {
  /// Streams that the peer has open. Larger: a peer makes us hold more; smaller: busy peers wait.
  std::size_t max_inbound = 512;
  /// Our streams that the peer has not acknowledged; go-yamux resets what is beyond 256.
  std::size_t max_unacked = 256;
  /// To which a stream's receive window grows, as go-yamux does.
  std::uint32_t max_window = 16u << 20;
  /// Sum of all receive windows beyond their first 256 KiB: growth stops there.
  std::uint64_t max_extra_windows = 64u << 20;
  /// Replies that wait for the peer to read. More: it floods us, the session ends.
  std::size_t max_control_bytes = 64u << 10;
};

/// A yamux session as a pure state machine: headers in, decisions and frames out; no sockets, no
/// bodies, no clock of its own. YamuxConnection drives it.
///
///     open()                    → SYN queued, id
///     on_header(h)              → what the driver has to do; for data, a body of h.length follows
///     reserve(id, n)            → how much may be sent now; the header is queued, the body is
///     yours consumed(id, n)           → a window update is queued when half the window was read
///     finish(id), reset(id)     → FIN, RST queued
///
/// Frames are appended to the Bytes that every call is given. Source: spec/libp2p.md section 8.
class Session {
 public:
  enum class Role : bool { client, server };

  Session(Role role, Limits limits) : limits_(limits), next_id_(role == Role::client ? 1 : 2) {}

  /// What a header means for its stream, in this order: opened, acked, credit or body, fin, rst.
  struct Event {
    std::uint32_t stream = 0;
    bool opened = false;                ///< a new stream of the peer's
    bool acked = false;                 ///< ours was accepted
    bool credit = false;                ///< writers may go on
    std::uint32_t body = 0;             ///< bytes that follow this header
    bool deliver = false;               ///< the body belongs to a live stream; else swallow it
    bool fin = false;                   ///< after the body
    bool rst = false;                   ///< after the body: the stream is gone
    std::optional<std::uint32_t> pong;  ///< a ping of ours came back
    std::optional<Reason> go_away;
  };

  /// Errors: malformed (version, type, parity of a SYN, SYN for a live id, more data than the
  /// window), too_large (flood of pings or refused streams). All of them end the session.
  [[nodiscard]] Result<Event> on_header(std::span<std::byte const, kHeaderBytes> in, Bytes& out);

  /// Errors: refused (GoAway received, ids used up).
  [[nodiscard]] Result<std::uint32_t> open(Bytes& out);

  [[nodiscard]] bool may_open() const noexcept { return unacked_ < limits_.max_unacked; }

  /// Queues a data header for min(n, credit, kMaxBody) bytes, which the caller appends; 0: wait for
  /// credit. Asserts that the stream lives and has not been finished.
  [[nodiscard]] std::uint32_t reserve(std::uint32_t stream, std::size_t n, Bytes& out);
  [[nodiscard]] std::uint64_t credit(std::uint32_t stream) const noexcept;

  /// The reader took `n` bytes. `round_trip` tells a reader that keeps up from one that does not:
  /// a window that is used up within 4 round trips is doubled.
  void consumed(
      std::uint32_t stream, std::size_t n, TimePoint now, Duration round_trip, Bytes& out);

  /// From here on windows grow to `most` bytes.
  void set_max_window(std::uint32_t most) noexcept { limits_.max_window = most; }

  void finish(std::uint32_t stream, Bytes& out);
  /// Forgets the stream; RST unless both ends had finished.
  void reset(std::uint32_t stream, Bytes& out);

  void ping(std::uint32_t value, Bytes& out);
  void go_away(Reason reason, Bytes& out);

  [[nodiscard]] bool alive(std::uint32_t stream) const noexcept {
    return streams_.contains(stream);
  }

  [[nodiscard]] std::size_t size() const noexcept { return streams_.size(); }

  [[nodiscard]] std::size_t inbound() const noexcept { return inbound_; }

  /// The driver wrote everything out: replies no longer count against max_control_bytes.
  void flushed() noexcept { control_bytes_ = 0; }

 private:
  struct Stream {
    std::uint64_t send_credit = kInitialWindow;
    std::uint32_t receive_credit = kInitialWindow;  ///< what the peer may still send
    std::uint32_t window = kInitialWindow;
    std::uint32_t unread_grant = 0;  ///< consumed, not granted again yet
    TimePoint last_grant{};
    bool ours = false;
    bool acked = false;
    bool finished = false;  ///< we sent FIN
    bool peer_finished = false;
  };

  [[nodiscard]] bool is_ours(std::uint32_t stream) const noexcept {
    return (stream & 1u) == (next_id_ & 1u);
  }

  [[nodiscard]] Result<Event> on_stream_header(Header const& header, Bytes& out);
  [[nodiscard]] Status accept(std::uint32_t stream, Event& event, Bytes& out);
  [[nodiscard]] Status reply(Header const& header, Bytes& out);
  void acknowledge(Stream& stream) noexcept;
  void forget(std::uint32_t stream) noexcept;

  Limits limits_;
  std::unordered_map<std::uint32_t, Stream> streams_;
  std::uint32_t next_id_;
  std::size_t inbound_ = 0;
  std::size_t unacked_ = 0;
  std::uint64_t extra_windows_ = 0;
  std::size_t control_bytes_ = 0;
  bool peer_going_ = false;
};

}  // namespace waggle::net::yamux
