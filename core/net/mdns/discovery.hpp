// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/runtime.hpp"
#include "core/net/mdns/message.hpp"
#include "core/wire/multiaddr.hpp"

/// What libp2p peers ask and answer by multicast DNS. Pure.
namespace waggle::net::mdns {

constexpr std::string_view kService = "_p2p._udp.local";
constexpr std::uint32_t kTtl = 120;              ///< seconds that an answer of ours holds
constexpr std::size_t kPeerNameLetters = 40;     ///< at least 32, at most a label's 63
constexpr std::size_t kMaxPeersInAnswer = 8;     ///< more: one datagram fills a book
constexpr std::size_t kMaxAddressesOfPeer = 16;  ///< as AddressBook::kMaxAddresses

/// Random small letters and digits: what stands in a peer's place, told to nobody else.
[[nodiscard]] std::string peer_name(Runtime& runtime);

/// "Who is there?", ready to be sent.
[[nodiscard]] Bytes query();
/// Whether a message asks for libp2p's peers.
[[nodiscard]] bool asks_for_peers(Message const& message);
/// Our answer, ready to be sent; `addresses` without /p2p/. Of them as many as fit into
/// Message::kMaxSent, in order; empty if none does.
[[nodiscard]] Bytes answer(std::string_view peer_name,
                           PeerId const& self,
                           std::span<wire::Multiaddr const> addresses);

/// Where a datagram came from, as far as it matters for belief.
enum class Source : std::uint8_t { elsewhere, local_network, this_machine };
/// `host`: a literal address. Private and link-local ones are of the local network.
[[nodiscard]] Source source_of(std::string_view host);

struct FoundPeer {
  PeerId id;
  std::vector<wire::Multiaddr> addresses;  ///< without /p2p/, at least one
};

/// The peers that an answer names, with those of their addresses that may be believed: plain TCP
/// to a private or link-local address, and to the loopback only from this machine. So that no
/// datagram makes us dial the Internet, or our own services. Nobody if `source` is elsewhere.
[[nodiscard]] std::vector<FoundPeer> peers_in(Message const& message, Source source);

}  // namespace waggle::net::mdns
