// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"

namespace waggle::wire {

/// Where a TCP connection goes: an IP address or a DNS name, and a port.
struct TcpTarget {
  enum class Kind : std::uint8_t { ip4, ip6, dns, dns4, dns6 };
  Kind kind;
  std::string host;
  std::uint16_t port;
  friend bool operator==(TcpTarget const&, TcpTarget const&) = default;
};

/// A libp2p multiaddr, held in its binary form. Source: spec/libp2p.md section 4 (the code table),
/// spec/hivemind-dht.md section 3.3.
class Multiaddr {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  Multiaddr() = default;
  /// Errors: malformed (names the component), too_large.
  [[nodiscard]] static Result<Multiaddr> parse(std::string_view text);
  /// Errors: malformed (an unknown code too: its length is unknown), too_large.
  [[nodiscard]] static Result<Multiaddr> from_bytes(ByteView binary);
  /// /ip4|ip6/HOST/tcp/PORT; `host` is a literal address. Errors: malformed.
  [[nodiscard]] static Result<Multiaddr> tcp(std::string_view host, std::uint16_t port);

  [[nodiscard]] ByteView bytes() const noexcept { return bytes_; }

  [[nodiscard]] std::string text() const;

  /// The first ip4|ip6|dns…/tcp pair, if that is how the address starts. A zone in front of an ip6
  /// ends up behind it, "fe80::1%eth0".
  [[nodiscard]] std::optional<TcpTarget> tcp_target() const;
  /// Whether it is such a pair and nothing else but a last /p2p/: what our transport dials.
  [[nodiscard]] bool is_plain_tcp() const;
  /// The name of an address that starts with /dnsaddr.
  [[nodiscard]] std::optional<std::string> dnsaddr() const;
  /// The last /p2p/ component.
  [[nodiscard]] std::optional<PeerId> peer_id() const;
  /// Whether it goes through a relay (/p2p-circuit).
  [[nodiscard]] bool is_relayed() const;
  /// What stands in front of the first /p2p-circuit; nothing if there is none.
  [[nodiscard]] std::optional<Multiaddr> relay() const;
  /// With /p2p-circuit at the end.
  [[nodiscard]] Multiaddr through_relay() const;
  [[nodiscard]] bool is_loopback() const;
  /// RFC 1918, 4193, link-local and loopback.
  [[nodiscard]] bool is_private() const;

  /// With /p2p/ID at the end (replacing one that is there), and without.
  [[nodiscard]] Multiaddr with_peer_id(PeerId const& id) const;
  [[nodiscard]] Multiaddr without_peer_id() const;

  friend bool operator==(Multiaddr const&, Multiaddr const&) = default;

  friend bool operator<(Multiaddr const& a, Multiaddr const& b) noexcept {
    return less(a.bytes_, b.bytes_);
  }

 private:
  Bytes bytes_;
};

}  // namespace waggle::wire
