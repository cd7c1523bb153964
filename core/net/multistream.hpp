// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/net/stream.hpp"

namespace waggle::net::multistream {

/// multistream-select 1.0: agrees on a protocol at the start of a pipe.
///
///     dialer     header, proposal            (both may go out at once)
///     listener   header, echo | na
///     dialer     next proposal after na, …
///
/// Not a byte beyond the agreed token is read: what follows belongs to the protocol.
/// Source: spec/libp2p.md section 6; spec/hivemind-dht.md section 2.3.

constexpr std::string_view kHeader = "/multistream/1.0.0";
constexpr std::string_view kNotAvailable = "na";
/// Text and newline. Larger: strangers take more memory before they proved anything.
constexpr std::size_t kMaxToken = 1024;
/// Proposals a listener answers on one pipe. Smaller: a dialer that tries many fails.
constexpr int kMaxProposals = 64;

/// uvarint length, `text`, newline. Asserts that it fits kMaxToken.
[[nodiscard]] Bytes encode(std::string_view text);
/// The text of a token's body (what the length counts). Errors: malformed (no newline at the end).
[[nodiscard]] Result<std::string_view> decode(ByteView body);

/// What a dialer that knows its peer sends at once: header and proposal.
[[nodiscard]] Bytes opening(std::string_view protocol);
/// Reads the listener's header and its answer to one proposal.
/// Errors: refused ("na"), malformed, closed, timeout, cancelled.
[[nodiscard]] Co<Status> read_acceptance(Stream& stream, std::string protocol, TimePoint deadline);

/// As dialer: proposes `protocol` and waits for the answer. Errors as read_acceptance.
/// Cost: one round trip.
[[nodiscard]] Co<Status> propose(Stream& stream, std::string protocol, TimePoint deadline);

/// As listener: answers until a proposal is one that `serves` knows, and returns it.
/// Errors: refused (too many proposals), malformed, too_large, closed, timeout, cancelled.
[[nodiscard]] Co<Result<std::string>> answer(Stream& stream,
                                             std::function<bool(std::string_view)> serves,
                                             TimePoint deadline);

}  // namespace waggle::net::multistream
