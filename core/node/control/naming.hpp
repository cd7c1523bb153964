// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node::control {

/// "a", "HOST:PORT" or "[v6]:PORT" as a multiaddr. Errors: invalid.
[[nodiscard]] Result<wire::Multiaddr> parse_address(std::string_view typed);

/// A PeerID as people see it, base58.
[[nodiscard]] std::string peer_text(PeerId const& peer);

/// What this machine calls itself: the host's name.
[[nodiscard]] std::string host_name();

}  // namespace waggle::node::control
