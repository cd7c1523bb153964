// SPDX-License-Identifier: MIT
#include "core/wire/peer_record.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/proto/envelope.pb.h"

namespace waggle::wire {
namespace {

// As deployed; RFC 0003 names other strings.
constexpr std::string_view kDomain = "libp2p-peer-record";
constexpr std::array kPayloadType{std::byte{0x03}, std::byte{0x01}};

}  // namespace

Bytes PeerRecord::seal(crypto::Identity const& identity) const {
  pb::PeerRecord message;
  message.set_peer_id(to_string(identity.peer_id().bytes()));
  message.set_seq(seq);
  for (auto const& address : addresses)
    message.add_addresses()->set_multiaddr(to_string(address.bytes()));
  return Envelope::seal(identity, kDomain, kPayloadType, as_bytes(message.SerializeAsString()));
}

Result<PeerRecord> PeerRecord::open(ByteView envelope) {
  WAGGLE_TRY(auto const opened, Envelope::open(envelope, kDomain, kPayloadType));
  pb::PeerRecord message;
  if (!message.ParseFromArray(opened.payload.data(), static_cast<int>(opened.payload.size())))
    return Error{Errc::malformed, "peer record: no such message"};
  WAGGLE_TRY(auto const id, crypto::peer_id_from_bytes(as_bytes(message.peer_id())));
  auto const signer = opened.signer.peer_id();
  if (id != signer)
    return Error{
        Errc::bad_signature,
        cat("peer record of ", crypto::to_text(id), " is signed by ", crypto::to_text(signer))};
  PeerRecord record{id, message.seq(), {}};
  for (auto const& info : message.addresses()) {
    if (record.addresses.size() == kMaxAddresses) break;
    auto address = Multiaddr::from_bytes(as_bytes(info.multiaddr()));
    if (address) record.addresses.push_back(*std::move(address));
  }
  return record;
}

}  // namespace waggle::wire
