// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "core/net/host.hpp"

namespace waggle::net::ping {

constexpr std::string_view kProtocol = "/ipfs/ping/1.0.0";
constexpr std::size_t kBytes = 32;
constexpr Duration kIdleTime = std::chrono::seconds(60);  ///< a silent pinger is left, as go does

/// Echoes 32 bytes at a time until the opener closes its side. Source: spec/libp2p.md section 11.
[[nodiscard]] Co<void> serve(Runtime& runtime, Incoming incoming);

/// The time that 32 random bytes take to `peer` and back, on a new stream.
/// Errors: malformed (other bytes came back) and those of Host::open.
[[nodiscard]] Co<Result<Duration>> measure(Host& host, PeerId peer, TimePoint deadline);

}  // namespace waggle::net::ping
