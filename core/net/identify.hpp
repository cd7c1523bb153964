// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/crypto/keys.hpp"
#include "core/net/stream.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net::identify {

constexpr std::string_view kProtocol = "/ipfs/id/1.0.0";
constexpr std::string_view kPushProtocol = "/ipfs/id/push/1.0.0";
constexpr std::size_t kMaxPart = 8192;       ///< go and js read no larger part
constexpr std::size_t kMaxParts = 9;         ///< go reads ten
constexpr std::size_t kMaxProtocols = 1024;  ///< as go keeps of one peer
constexpr std::size_t kMaxAddresses = 64;

/// What a peer says about itself. In a push, what is empty is unchanged.
/// Source: spec/libp2p.md section 10; spec/hivemind-dht.md section 2.4.
struct Message {
  std::optional<crypto::PublicKey> public_key;
  std::vector<wire::Multiaddr> listen_addresses;
  std::vector<std::string> protocols;
  std::optional<wire::Multiaddr> observed;  ///< the reader's address as the writer sees it
  std::string protocol_version;
  std::string agent;
  Bytes signed_record;  ///< an envelope, see wire::PeerRecord; not verified here

  friend bool operator==(Message const&, Message const&) = default;
};

/// The frames' bodies: one part where it fits kMaxPart, because js reads only one, else several.
[[nodiscard]] std::vector<Bytes> encode(Message const& message);
/// Reads the parts joined together (singular fields: the last wins; repeated ones: all). Addresses
/// and keys that do not parse are left out, as is what is above the limits. Errors: malformed.
[[nodiscard]] Result<Message> decode(ByteView joined);

/// The addresses to keep for `peer`: those of a valid signed record, without one the listen
/// addresses; none if the record belongs to somebody else. A message from a public address keeps
/// public ones only, from a private one all but loopback, from loopback all.
[[nodiscard]] std::vector<wire::Multiaddr> believed_addresses(Message const& message,
                                                              PeerId const& peer,
                                                              wire::Multiaddr const& connection);

/// Writes the parts and closes our side. Errors as Stream::write.
[[nodiscard]] Co<Status> send(Stream& stream, Message message, TimePoint deadline);
/// Reads parts until the end of the stream, which must come within kEndTime of a part.
/// Errors: malformed, too_large, closed, timeout, cancelled.
[[nodiscard]] Co<Result<Message>> receive(Runtime& runtime, Stream& stream, TimePoint deadline);
constexpr Duration kEndTime = std::chrono::seconds(5);

}  // namespace waggle::net::identify
