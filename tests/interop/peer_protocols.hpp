// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/net/host.hpp"

/// The protocols of tests/interop/js/README.md: echo, sink and source, both ends.
namespace waggle::interop {

constexpr char const* kEcho = "/interop/echo/1.0.0";
constexpr char const* kSink = "/interop/sink/1.0.0";
constexpr char const* kSource = "/interop/source/1.0.0";

/// Serves all three.
[[nodiscard]] std::vector<net::Registration> serve_all(net::Host& host);

/// Runs `protocol` (an echo unless it is sink or source) with `bytes` bytes, and reports as
/// peer.mjs does; "ok" says whether what came back was right.
[[nodiscard]] Co<Result<nlohmann::json>> run_protocol(
    net::Host& host, PeerId peer, std::string protocol, std::uint64_t bytes, TimePoint deadline);

/// `count` pings, each on a new stream, then as many on one.
[[nodiscard]] Co<Result<nlohmann::json>> run_pings(net::Host& host,
                                                   PeerId peer,
                                                   int count,
                                                   TimePoint deadline);

/// One bare FIND_NODE, request and reply in hex.
[[nodiscard]] Co<Result<nlohmann::json>> run_find_node(net::Host& host,
                                                       PeerId peer,
                                                       PeerId target,
                                                       TimePoint deadline);

}  // namespace waggle::interop
