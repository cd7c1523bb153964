// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::wire::detail {

/// Wire-stable: multiaddr's protocol codes.
enum class Code : std::uint16_t {
  ip4 = 4,
  tcp = 6,
  ip6 = 41,
  ip6zone = 42,
  dns = 53,
  dns4 = 54,
  dns6 = 55,
  dnsaddr = 56,
  udp = 273,
  webrtc_direct = 280,
  webrtc = 281,
  p2p_circuit = 290,
  unix_path = 400,
  p2p = 421,
  tls = 448,
  sni = 449,
  noise = 454,
  quic = 460,
  quic_v1 = 461,
  webtransport = 465,
  certhash = 466,
  ws = 477,
  wss = 478,
};

/// What stands behind a code. `text` is one segment of UTF-8; `path` takes the rest of the address.
enum class ValueKind : std::uint8_t { none, ip4, ip6, port, text, path, peer_id, certhash };

struct Protocol {
  Code code;
  std::string_view name;
  ValueKind kind;
};

/// Null for an unknown code or name. The old name "ipfs" finds p2p.
[[nodiscard]] Protocol const* find_protocol(std::uint64_t code) noexcept;
[[nodiscard]] Protocol const* find_protocol(std::string_view name) noexcept;

/// One component of a binary address.
struct Component {
  Protocol const* protocol;
  ByteView value;    ///< without its length prefix
  std::size_t size;  ///< bytes it takes in all
};

/// The component at the front of `in`, its value checked. Errors: malformed (names the component).
[[nodiscard]] Result<Component> read_component(ByteView in);
/// Code, length where the kind has one, value.
void append_component(Bytes& out, Protocol const& protocol, ByteView value);
/// The same for a code of the table.
void append_component(Bytes& out, Code code, ByteView value);

/// Errors: malformed.
[[nodiscard]] Result<Bytes> value_from_text(Protocol const& protocol, std::string_view text);
[[nodiscard]] std::string value_text(Protocol const& protocol, ByteView value);

}  // namespace waggle::wire::detail
