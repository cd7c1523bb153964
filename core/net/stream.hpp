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
  /// Half close: our end of stream, after all that was written. Reading goes on. Errors as write.
  [[nodiscard]] virtual Co<Status> close_write(TimePoint deadline) = 0;
  /// Ends both directions at once; pending operations fail with closed. Idempotent.
  virtual void reset() noexcept = 0;
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
