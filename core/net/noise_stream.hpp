// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/net/noise.hpp"
#include "core/net/stream.hpp"

namespace waggle::net {

/// A pipe inside Noise: each transport message is a big-endian u16 length, ciphertext and tag.
/// Large writes are sealed several messages at a time into one write of the pipe below; reads are
/// opened straight into the caller's buffer where a message fits.
/// Thread: the network thread. Source: spec/libp2p.md sections 7.1, 7.5.
class NoiseStream final : public Stream {
 public:
  NoiseStream(std::unique_ptr<Stream> below, NoiseHandshake::Keys const& keys);
  ~NoiseStream() override;

  /// Errors beside Stream's: bad_signature, malformed (the pipe is unusable then).
  [[nodiscard]] Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override;
  [[nodiscard]] Co<Status> write(ByteView in, TimePoint deadline) override;
  /// Sealed from where they lie, all of them before the pipe is written to: so not megabytes at
  /// once.
  [[nodiscard]] Co<Status> write_pieces(std::span<ByteView const> pieces,
                                        TimePoint deadline) override;
  [[nodiscard]] Co<Status> close_write(TimePoint deadline) override;
  void reset() noexcept override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A pipe whose other end is known.
struct Secured {
  std::unique_ptr<Stream> stream;
  crypto::PublicKey remote_key;
  PeerId remote;
  NoiseHandshake::Muxer muxer;
};

/// Runs the handshake over `pipe`, with fresh keys from `runtime`.
/// Errors: malformed, bad_signature, closed, timeout, cancelled.
[[nodiscard]] Co<Result<Secured>> secure(Runtime& runtime,
                                         std::unique_ptr<Stream> pipe,
                                         NoiseHandshake::Role role,
                                         crypto::Identity const& self,
                                         TimePoint deadline);

}  // namespace waggle::net
