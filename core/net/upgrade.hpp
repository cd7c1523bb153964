// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "core/net/noise_stream.hpp"

namespace waggle::net {

/// The time limit from a socket to an authenticated session, as go-libp2p's.
constexpr Duration kUpgradeTime = std::chrono::seconds(15);

/// Makes an authenticated pipe that is ready for yamux of a raw one: multistream, Noise, and the
/// muxer by multistream where the handshake left it open. The initiator is the yamux client.
/// Errors: refused (another peer than `expected`, ourselves, no Noise or yamux), malformed,
/// bad_signature, closed, timeout, cancelled. Source: spec/libp2p.md sections 5, 7.4.
[[nodiscard]] Co<Result<Secured>> upgrade(Runtime& runtime,
                                          std::unique_ptr<Stream> pipe,
                                          NoiseHandshake::Role role,
                                          crypto::Identity const& self,
                                          std::optional<PeerId> expected,
                                          TimePoint deadline);

}  // namespace waggle::net
