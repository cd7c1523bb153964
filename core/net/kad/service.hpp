// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/net/address_book.hpp"
#include "core/net/host.hpp"
#include "core/net/kad/message.hpp"
#include "core/net/peer_routing.hpp"

namespace waggle::net::kad {

struct ServiceOptions {
  /// Answers others and is listed by identify. False: asks only.
  bool server_mode = true;
  /// Larger: dead peers stay in the table and are told to others for longer; smaller: traffic.
  Duration refresh_period = std::chrono::minutes(10);
};

/// The libp2p Kad-DHT as far as peers are found with it: keeps a table of its servers, answers
/// FIND_NODE, looks addresses up. Keeps no records and no providers.
///
///     kad::Service kad(swarm, book);
///     swarm.set_peer_routing(&kad);
///     // the swarm's observers call identified() and disconnected()
///     ...
///     co_await kad.close();   // before the host is closed
///
/// Thread: the network thread. Source: spec/hivemind-dht.md section 4, spec/libp2p.md section 17.
class Service final : public PeerRouting {
 public:
  /// Both must outlive it.
  Service(Host& host, AddressBook& book, ServiceOptions options = {});
  /// Asserts that close() has been awaited.
  ~Service() override;

  /// An iterative lookup; a peer that we are connected to or that others name is found whether or
  /// not it speaks Kad itself. Errors: not_found, timeout, cancelled.
  [[nodiscard]] Co<Result<std::vector<wire::Multiaddr>>> find_peer(PeerId peer,
                                                                   TimePoint deadline) override;

  /// What identify said of a connected peer, each time it says so: servers are probed and enter the
  /// table, those that stopped being one leave it.
  void identified(PeerId const& peer,
                  std::vector<std::string> const& protocols,
                  std::vector<wire::Multiaddr> const& addresses);
  /// The last connection has gone. Its addresses stay in the book for a while, and it in the table
  /// until it fails to answer.
  void disconnected(PeerId const& peer);

  /// The answer to `request` from `asker`; nothing: reset the stream. An empty answer: send none.
  [[nodiscard]] std::optional<Bytes> answer(PeerId const& asker, ByteView request) const;

  /// Ends the lookups and probes of our own, withdraws the protocol.
  [[nodiscard]] Co<void> close();

  [[nodiscard]] std::size_t table_size() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace waggle::net::kad
