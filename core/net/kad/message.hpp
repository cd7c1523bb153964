// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net::kad {

constexpr char const* kProtocol = "/ipfs/kad/1.0.0";
constexpr std::size_t kMaxMessageBytes = 4u << 20;
/// A reply names 20, and providers besides; more are not looked at.
constexpr std::size_t kMaxPeersRead = 64;
/// Of one peer; more are not looked at.
constexpr std::size_t kMaxAddressesRead = 32;

/// Wire-stable.
enum class MessageType : std::uint8_t {
  put_value = 0,
  get_value = 1,
  add_provider = 2,
  get_providers = 3,
  find_node = 4,
  ping = 5,
};

/// Wire-stable.
enum class Connection : std::uint8_t {
  not_connected = 0,
  connected = 1,
  can_connect = 2,
  cannot_connect = 3,
};

/// A peer as messages name it; addresses without /p2p/.
struct PeerEntry {
  PeerId id;
  std::vector<wire::Multiaddr> addresses;
  Connection connection = Connection::not_connected;
  friend bool operator==(PeerEntry const&, PeerEntry const&) = default;
};

/// The one message of the libp2p Kad-DHT, without its record, which we neither send nor keep.
/// Pure. Source: spec/libp2p.md section 17, spec/hivemind-dht.md section 4.2.
struct Message {
  MessageType type = MessageType::put_value;
  Bytes key;
  std::vector<PeerEntry> closer_peers;
  std::vector<PeerEntry> provider_peers;
  /// Without meaning; go writes 1, js writes 0, which is kept apart from not writing it.
  std::optional<std::int32_t> cluster_level = 1;

  /// Peers without a readable id and addresses of unknown kinds are left out: newer peers announce
  /// transports that we do not know. Errors: malformed (protobuf, an unknown type).
  [[nodiscard]] static Result<Message> decode(ByteView body);
  /// In the order of the field numbers, as go does.
  [[nodiscard]] Bytes encode() const;
};

}  // namespace waggle::net::kad
