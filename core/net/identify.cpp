// SPDX-License-Identifier: MIT
#include "core/net/identify.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/net/proto/identify.pb.h"
#include "core/wire/peer_record.hpp"

namespace waggle::net::identify {
namespace {

std::optional<wire::Multiaddr> parse_address(std::string const& binary) {
  auto address = wire::Multiaddr::from_bytes(as_bytes(binary));
  if (!address) return std::nullopt;
  auto plain = address->without_peer_id();
  if (plain.bytes().empty()) return std::nullopt;
  return plain;
}

bool fits(wire::Multiaddr const& address, wire::Multiaddr const& connection) {
  if (connection.is_loopback()) return true;
  if (connection.is_private()) return !address.is_loopback();
  return !address.is_private() && !address.is_loopback();
}

}  // namespace

std::vector<Bytes> encode(Message const& message) {
  std::vector<Bytes> parts;
  pb::Identify part;
  auto const close_part = [&] {
    parts.push_back(to_bytes(part.SerializeAsString()));
    part.Clear();
  };
  // Room for one more field of `size` bytes with its tag and length.
  auto const make_room = [&](std::size_t size) {
    if (part.ByteSizeLong() + size + 4 > kMaxPart) close_part();
  };
  if (message.public_key) part.set_public_key(to_string(message.public_key->to_protobuf()));
  if (message.observed) part.set_observed_addr(to_string(message.observed->bytes()));
  if (!message.protocol_version.empty()) part.set_protocol_version(message.protocol_version);
  if (!message.agent.empty()) part.set_agent_version(message.agent);
  for (auto const& address : message.listen_addresses) {
    make_room(address.bytes().size());
    part.add_listen_addrs(to_string(address.bytes()));
  }
  for (auto const& protocol : message.protocols) {
    make_room(protocol.size());
    part.add_protocols(protocol);
  }
  if (!message.signed_record.empty()) {
    make_room(message.signed_record.size());
    part.set_signed_peer_record(to_string(message.signed_record));
  }
  close_part();
  return parts;
}

Result<Message> decode(ByteView joined) {
  pb::Identify wire;
  if (!wire.ParseFromArray(joined.data(), static_cast<int>(joined.size())))
    return Error{Errc::malformed, "an identify message that is no protobuf"};
  Message message;
  if (wire.has_public_key()) {
    auto key = crypto::PublicKey::from_protobuf(as_bytes(wire.public_key()));
    if (key) message.public_key = *std::move(key);
  }
  for (auto const& binary : wire.listen_addrs()) {
    if (message.listen_addresses.size() == kMaxAddresses) break;
    if (auto address = parse_address(binary))
      message.listen_addresses.push_back(*std::move(address));
  }
  for (auto const& protocol : wire.protocols()) {
    if (message.protocols.size() == kMaxProtocols) break;
    message.protocols.push_back(protocol);
  }
  if (wire.has_observed_addr()) message.observed = parse_address(wire.observed_addr());
  message.protocol_version = wire.protocol_version();
  message.agent = wire.agent_version();
  message.signed_record = to_bytes(wire.signed_peer_record());
  return message;
}

std::vector<wire::Multiaddr> believed_addresses(Message const& message,
                                                PeerId const& peer,
                                                wire::Multiaddr const& connection) {
  std::vector<wire::Multiaddr> addresses = message.listen_addresses;
  if (!message.signed_record.empty()) {
    if (auto record = wire::PeerRecord::open(message.signed_record)) {
      addresses = std::move(record->addresses);
      if (record->id != peer) addresses.clear();
    }
  }
  for (auto& address : addresses) address = address.without_peer_id();
  std::erase_if(addresses, [&](auto const& address) { return !fits(address, connection); });
  if (addresses.size() > kMaxAddresses) addresses.resize(kMaxAddresses);
  return addresses;
}

Co<Status> send(Stream& stream, Message message, TimePoint deadline) {
  auto const parts = encode(message);
  for (auto const& part : parts) {
    WAGGLE_CO_TRY_STATUS(co_await write_frame(stream, part, deadline));
  }
  co_return co_await stream.close_write(deadline);
}

Co<Result<Message>> receive(Runtime& runtime, Stream& stream, TimePoint deadline) {
  Bytes joined;
  for (std::size_t parts = 0;; ++parts) {
    TimePoint const until = parts == 0 ? deadline : std::min(deadline, runtime.now() + kEndTime);
    auto part = co_await read_frame_or_end(stream, kMaxPart, until);
    if (!part) {
      // A peer that forgets to close has still said everything.
      if (parts > 0 && part.error().code == Errc::timeout) break;
      co_return std::move(part).error();
    }
    if (!*part) {
      if (parts == 0) co_return Error{Errc::closed, "an identify stream without a message"};
      break;
    }
    if (parts == kMaxParts)
      co_return Error{Errc::too_large, cat("identify in more than ", kMaxParts, " parts")};
    append(joined, **part);
  }
  co_return decode(joined);
}

}  // namespace waggle::net::identify
