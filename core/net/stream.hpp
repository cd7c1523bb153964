// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::net {

/// An ordered, reliable, half-closable byte pipe to one peer.
/// Implementations: TcpStream, NoiseStream, YamuxStream, tests/sim/MemoryStream.
/// Thread: the network thread. One read and one write may be pending at a time.
class Stream {
 public:
  /// Resets what is still open.
  virtual ~Stream() = default;

  /// Reads 1..out.size() bytes; 0 once at the peer's end of stream.
  /// Errors: closed (reset, connection lost), timeout, cancelled.
  [[nodiscard]] virtual Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) = 0;
  /// Writes all of `in`, which must outlive the call; waits for the peer's window.
  /// Errors: closed, timeout, cancelled. After an error how much went out is unknown: reset.
  [[nodiscard]] virtual Co<Status> write(ByteView in, TimePoint deadline) = 0;
  /// As write() of the pieces, one after the other. They are not looked at any more once the call
  /// has suspended, so they need not outlive it. The default joins them: one copy.
  [[nodiscard]] virtual Co<Status> write_pieces(std::span<ByteView const> pieces,
                                                TimePoint deadline);
  /// Half close: our end of stream, after all that was written. Reading goes on. Errors as write.
  [[nodiscard]] virtual Co<Status> close_write(TimePoint deadline) = 0;
  /// Ends both directions at once; pending operations fail with closed. Idempotent.
  virtual void reset() noexcept = 0;

  /// The reader says how many bytes more (or fewer) it holds for the peer in a message whose end
  /// has not come, or that nobody takes. Where all streams together hold too much, the one without
  /// progress for the longest time is reset.
  virtual void hold(std::ptrdiff_t bytes) noexcept { (void)bytes; }
};

/// What one reader holds of a stream; let go of at its end. The stream must outlive it.
class Holding {
 public:
  explicit Holding(Stream& stream) noexcept : stream_(stream) {}

  ~Holding() { set(0); }

  Holding(Holding const&) = delete;
  Holding& operator=(Holding const&) = delete;

  void set(std::size_t bytes) noexcept {
    if (bytes == bytes_) return;
    auto const change = static_cast<std::ptrdiff_t>(bytes) - static_cast<std::ptrdiff_t>(bytes_);
    bytes_ = bytes;
    stream_.hold(change);
  }

 private:
  Stream& stream_;
  std::size_t bytes_ = 0;
};

/// Reads exactly out.size() bytes. Errors: closed (also at an end of stream inside), timeout,
/// cancelled.
[[nodiscard]] Co<Status> read_exactly(Stream& stream, MutableBytes out, TimePoint deadline);
/// Reads until the end of stream. Errors: too_large (above `limit`), closed, timeout, cancelled.
[[nodiscard]] Co<Result<Bytes>> read_to_end(Stream& stream, std::size_t limit, TimePoint deadline);
/// Reads one lp frame: uvarint length, then that many bytes. Never reads past it.
/// Errors: too_large (above `limit`, before any allocation), malformed, closed, timeout, cancelled.
[[nodiscard]] Co<Result<Bytes>> read_frame(Stream& stream, std::size_t limit, TimePoint deadline);
/// As read_frame, but nothing where the stream ends before a frame begins.
[[nodiscard]] Co<Result<std::optional<Bytes>>> read_frame_or_end(Stream& stream,
                                                                 std::size_t limit,
                                                                 TimePoint deadline);
/// Writes uvarint length and body in one write.
[[nodiscard]] Co<Status> write_frame(Stream& stream, ByteView body, TimePoint deadline);

}  // namespace waggle::net
