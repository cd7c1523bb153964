// SPDX-License-Identifier: MIT
#include "core/net/kad/message.hpp"

#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::net::kad {
namespace {

using protobuf::Field;
using protobuf::FieldReader;

constexpr std::uint32_t kType = 1;
constexpr std::uint32_t kKey = 2;
constexpr std::uint32_t kRecord = 3;
constexpr std::uint32_t kCloserPeers = 8;
constexpr std::uint32_t kProviderPeers = 9;
constexpr std::uint32_t kClusterLevel = 10;

constexpr std::uint32_t kPeerId = 1;
constexpr std::uint32_t kPeerAddresses = 2;
constexpr std::uint32_t kPeerConnection = 3;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("kad message: ", what)};
}

Status expect(Field const& field, Field::Wire wire) {
  if (field.wire == wire) return ok();
  return malformed(cat("field ", field.number, " has wire type ", field.wire));
}

Result<std::optional<PeerEntry>> decode_peer(ByteView message) {
  PeerEntry peer;
  bool named = false;
  FieldReader reader(message);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    if (field->number == kPeerId) {
      WAGGLE_TRY_STATUS(expect(*field, Field::Wire::bytes));
      auto id = crypto::peer_id_from_bytes(field->bytes);
      named = id.has_value();
      if (id) peer.id = *id;
    } else if (field->number == kPeerAddresses) {
      WAGGLE_TRY_STATUS(expect(*field, Field::Wire::bytes));
      if (peer.addresses.size() >= kMaxAddressesRead) continue;
      auto address = wire::Multiaddr::from_bytes(field->bytes);
      if (address) peer.addresses.push_back(address->without_peer_id());
    } else if (field->number == kPeerConnection) {
      WAGGLE_TRY_STATUS(expect(*field, Field::Wire::varint));
      if (field->value <= static_cast<std::uint64_t>(Connection::cannot_connect))
        peer.connection = static_cast<Connection>(field->value);
    }
  }
  if (!named) return std::optional<PeerEntry>{};
  return std::optional(std::move(peer));
}

Status take_peer(Field const& field, std::vector<PeerEntry>& peers) {
  WAGGLE_TRY_STATUS(expect(field, Field::Wire::bytes));
  if (peers.size() >= kMaxPeersRead) return ok();
  WAGGLE_TRY(auto peer, decode_peer(field.bytes));
  if (peer) peers.push_back(std::move(*peer));
  return ok();
}

void append_peer(Bytes& out, std::uint32_t number, PeerEntry const& peer) {
  Bytes body;
  protobuf::append_field(body, kPeerId, peer.id.bytes());
  for (auto const& address : peer.addresses)
    protobuf::append_field(body, kPeerAddresses, address.bytes());
  if (peer.connection != Connection::not_connected)
    protobuf::append_field(body, kPeerConnection, static_cast<std::uint64_t>(peer.connection));
  protobuf::append_field(out, number, body);
}

}  // namespace

Result<Message> Message::decode(ByteView body) {
  Message message;
  message.cluster_level.reset();
  FieldReader reader(body);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) return message;
    switch (field->number) {
      case kType:
        WAGGLE_TRY_STATUS(expect(*field, Field::Wire::varint));
        if (field->value > static_cast<std::uint64_t>(MessageType::ping))
          return malformed(cat("type ", field->value));
        message.type = static_cast<MessageType>(field->value);
        break;
      case kKey:
        WAGGLE_TRY_STATUS(expect(*field, Field::Wire::bytes));
        message.key = to_bytes(field->bytes);
        break;
      case kRecord:
        WAGGLE_TRY_STATUS(expect(*field, Field::Wire::bytes));
        break;
      case kCloserPeers:
        WAGGLE_TRY_STATUS(take_peer(*field, message.closer_peers));
        break;
      case kProviderPeers:
        WAGGLE_TRY_STATUS(take_peer(*field, message.provider_peers));
        break;
      case kClusterLevel:
        WAGGLE_TRY_STATUS(expect(*field, Field::Wire::varint));
        message.cluster_level = static_cast<std::int32_t>(field->value);
        break;
      default:
        break;
    }
  }
}

Bytes Message::encode() const {
  Bytes out;
  if (type != MessageType::put_value)
    protobuf::append_field(out, kType, static_cast<std::uint64_t>(type));
  if (!key.empty()) protobuf::append_field(out, kKey, key);
  for (auto const& peer : closer_peers) append_peer(out, kCloserPeers, peer);
  for (auto const& peer : provider_peers) append_peer(out, kProviderPeers, peer);
  // A negative int32 takes ten bytes on the wire, as protobuf extends its sign.
  if (cluster_level)
    protobuf::append_field(
        out, kClusterLevel, static_cast<std::uint64_t>(std::int64_t{*cluster_level}));
  return out;
}

}  // namespace waggle::net::kad
