// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::wire::detail {

using Ip4 = std::array<std::byte, 4>;
using Ip6 = std::array<std::byte, 16>;

/// Four decimal numbers; nothing for other text.
[[nodiscard]] std::optional<Ip4> parse_ip4(std::string_view text);
/// Any form of RFC 4291 section 2.2, without a zone.
[[nodiscard]] std::optional<Ip6> parse_ip6(std::string_view text);
/// `ip` is 4 bytes.
[[nodiscard]] std::string ip4_text(ByteView ip);
/// RFC 5952; mapped IPv4 as ::ffff:192.0.2.1. `ip` is 16 bytes.
[[nodiscard]] std::string ip6_text(ByteView ip);

/// Both take 4 or 16 bytes; a mapped IPv4 address counts as what it maps.
[[nodiscard]] bool is_loopback(ByteView ip);
/// RFC 1918, 4193, link-local and loopback.
[[nodiscard]] bool is_private(ByteView ip);

}  // namespace waggle::wire::detail
