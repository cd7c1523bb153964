// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/net/address_book.hpp"
#include "core/net/detail/backlog.hpp"
#include "core/net/detail/connection.hpp"
#include "core/net/identify.hpp"
#include "core/net/peer_routing.hpp"
#include "core/net/swarm.hpp"
#include "core/net/upgrade.hpp"

namespace waggle::net {

/// How long addresses from identify are kept after the connection, as go does.
constexpr Duration kIdentifiedTtl = std::chrono::minutes(30);
/// From the peer's SYN to an agreed protocol; a silent stream is reset then.
constexpr Duration kNegotiationTime = std::chrono::seconds(10);
/// At once to one peer.
constexpr std::size_t kMaxParallelDials = 8;
/// Between two dials to one peer, if the first is slow: it may still win.
constexpr Duration kDialStagger = std::chrono::milliseconds(250);
/// One peer's dial with all its addresses and a look-up.
constexpr Duration kDialTime = std::chrono::seconds(40);
constexpr Duration kBackOff = std::chrono::seconds(5);
constexpr Duration kMaxBackOff = std::chrono::seconds(60);
/// Failed addresses remembered; beyond it the oldest knowledge is forgotten at once.
constexpr std::size_t kMaxBackOffs = 4096;
constexpr std::size_t kMaxObserved = 64;

/// The Swarm behind its interface. Parts: swarm.cpp (interface, registry), detail/swarm_listen.cpp
/// (connections that others begin), detail/swarm_dial.cpp (from a PeerId to a connection),
/// detail/swarm_connection.cpp (what runs on a connection), detail/swarm_announce.cpp (what we tell
/// about ourselves). All coroutines run in `scope` or in a connection's.
struct Swarm::State {
  State(Runtime& r, crypto::Identity const& i, AddressBook& b, SwarmOptions o)
      : runtime(r), identity(i), book(b), options(std::move(o)), changed(r), scope(r) {}

  using ConnectionPtr = std::shared_ptr<Connection>;

  struct Registry {
    std::map<std::string, std::shared_ptr<Handler>, std::less<>> handlers;
    State* owner = nullptr;  // null once the Swarm is gone
  };

  /// A dial that several callers may wait for.
  struct Dial {
    explicit Dial(Runtime& runtime) : done(runtime) {}

    Signal done;
    std::optional<Error> failure;
    bool finished = false;
  };

  struct BackOff {
    int failures = 0;
    TimePoint until{};
  };

  /// An inbound socket that has not proved who it is.
  struct Pending {
    std::function<void()> abort;
    std::shared_ptr<bool> listed;  ///< false once it was pushed out of the list
  };

  // detail/swarm_announce.cpp
  void changed_protocols_or_addresses();
  [[nodiscard]] std::vector<std::string> protocols() const;
  [[nodiscard]] std::vector<wire::Multiaddr> addresses() const;
  Co<void> push_loop();
  Co<void> refresh_loop();

  // detail/swarm_listen.cpp
  Co<void> accept_loop();
  Co<void> accept_one(std::unique_ptr<TcpStream> socket);

  // detail/swarm_dial.cpp
  [[nodiscard]] ConnectionPtr best(PeerId const& peer) const;
  Co<Result<ConnectionPtr>> reach(PeerId peer, TimePoint deadline);
  Co<void> run_dial(PeerId peer, std::shared_ptr<Dial> dial);
  Co<Status> dial_peer(PeerId peer);
  Co<Status> try_addresses(PeerId peer,
                           std::vector<wire::Multiaddr> candidates,
                           TimePoint deadline);
  Co<Result<ConnectionPtr>> dial_address(wire::Multiaddr address,
                                         std::optional<PeerId> expected,
                                         TimePoint deadline);
  [[nodiscard]] bool backing_off(wire::Multiaddr const& address) const;
  void dial_failed(wire::Multiaddr const& address);

  // detail/swarm_connection.cpp
  [[nodiscard]] Result<ConnectionPtr> add_connection(Secured secured,
                                                     wire::Multiaddr address,
                                                     bool initiator,
                                                     std::shared_ptr<Traffic const> traffic);
  [[nodiscard]] bool make_room();
  Co<void> run_connection(ConnectionPtr connection);
  void take_stream(Connection& connection, std::unique_ptr<Stream> stream);
  Co<void> serve_counted(Connection& connection, std::unique_ptr<Stream> stream);
  Co<void> serve_stream(Connection& connection, std::unique_ptr<Stream> stream);
  Co<void> request_identify(ConnectionPtr connection);
  Co<void> send_identify(Connection& connection, std::unique_ptr<Stream> stream);
  Co<void> receive_push(Connection& connection, std::unique_ptr<Stream> stream);
  Co<void> push_identify(ConnectionPtr connection);
  void start_push(ConnectionPtr const& connection);
  void identified(Connection& connection, identify::Message message);
  [[nodiscard]] identify::Message describe(Connection const& connection) const;
  void misbehaved(Connection& connection, std::string_view what);

  Runtime& runtime;
  crypto::Identity const& identity;
  AddressBook& book;
  SwarmOptions options;
  std::shared_ptr<SharedTraffic> total = std::make_shared<SharedTraffic>();
  std::shared_ptr<Backlog> strangers = std::make_shared<Backlog>(options.strangers_backlog);
  std::shared_ptr<Backlog> companions = std::make_shared<Backlog>(options.known_backlog);
  PeerRouting* routing = nullptr;
  RelayDialer relay_dialer;

  std::unique_ptr<TcpListener> listener;
  std::list<Pending> pending;
  std::unordered_map<PeerId, std::vector<ConnectionPtr>> connections;
  std::size_t connection_count = 0;
  std::size_t inbound_streams = 0;  // being served, over all connections
  std::unordered_map<PeerId, std::shared_ptr<Dial>> dials;
  std::map<wire::Multiaddr, BackOff> back_offs;

  std::shared_ptr<Registry> registry = std::make_shared<Registry>();
  std::vector<wire::Multiaddr> external;
  std::map<wire::Multiaddr, std::set<PeerId>> observed;
  std::vector<Identified> identified_observers;
  std::vector<std::function<void(PeerId const&, bool)>> connection_observers;

  std::uint64_t version = 1;  ///< of what identify tells
  Signal changed;
  bool closing = false;
  Scope scope;
};

}  // namespace waggle::net
