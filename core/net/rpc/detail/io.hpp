// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/net/rpc/stream_frame.hpp"
#include "core/net/stream.hpp"

namespace waggle::net::rpc::detail {

/// Reads until one item is whole. Nothing: the stream ended between two frames, by end or by reset.
/// Adds what was read to `count`. Errors: those of StreamParser; closed (cut inside a frame),
/// timeout, cancelled.
[[nodiscard]] Co<Result<std::optional<StreamItem>>> read_item(Stream& stream,
                                                              StreamParser& parser,
                                                              std::uint64_t& count,
                                                              TimePoint deadline);

/// Writes one frame with the body `head` + `tail`; a large tail goes out uncopied, in a write of
/// its own. Adds what was written to `count`. Errors: too_large (nothing was written), closed,
/// timeout, cancelled.
[[nodiscard]] Co<Status> write_item(Stream& stream,
                                    StreamMarker marker,
                                    ByteView head,
                                    ByteView tail,
                                    std::uint64_t& count,
                                    TimePoint deadline);

/// After our end of stream: waits until the other side has ended too, so that destroying the stream
/// does not reset what it has not read yet. Gives up after a few seconds or at the first further
/// byte.
[[nodiscard]] Co<void> await_end(Runtime& runtime, Stream& stream);

}  // namespace waggle::net::rpc::detail
