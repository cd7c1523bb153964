// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/crypto/keys.hpp"
#include "core/net/host.hpp"

namespace waggle::net {

class AddressBook;
class PeerRouting;

/// How a Swarm listens and what it takes from strangers.
struct SwarmOptions {
  std::string listen_host = "0.0.0.0";  ///< a literal address; empty: do not listen
  std::uint16_t listen_port = 0;   ///< 0: any free one; busy: the next ones, kListenPorts of them
  std::string agent = "waggle/0";  ///< identify's agent version: name/version
  std::vector<wire::Multiaddr> announce;  ///< if given, told to others in place of what we found
  /// Larger: a flood may take more memory (under 100 kB each); smaller: a big swarm is cut off.
  std::size_t max_connections = 512;
  std::size_t max_connections_per_peer = 8;
  /// Streams that peers have open, over all connections; above it a connection keeps
  /// kStreamsEach. Larger: a flood takes more memory (about 6 kB each); smaller: busy peers wait.
  std::size_t max_inbound_streams = 2048;
  static constexpr std::size_t kStreamsEach = 8;
  /// Inbound sockets that have not proved who they are. Smaller: a flood keeps good peers out.
  std::size_t max_pending_inbound = 64;
  /// Bytes that strangers have sent and nobody has taken yet, over all their connections. Larger: a
  /// flood takes more memory (up to three times this); smaller: many newcomers at once meet resets.
  std::size_t strangers_backlog = 4u << 20;
  /// To which a window of theirs grows. Larger: a few that we are slow to read use up the above;
  /// smaller: less than 10 MB/s over 100 ms.
  std::uint32_t strangers_window = 1u << 20;
  /// As strangers_backlog, for peers whose protocols we have used ourselves: those of our groups
  /// and tables.
  std::size_t known_backlog = 128u << 20;
  Duration keep_alive = std::chrono::seconds(30);  ///< idle for so long: a yamux ping
};

/// Streams to authenticated peers over TCP, Noise and yamux: dials, listens, upgrades, identifies,
/// keeps alive. Does not know what the protocols it carries mean, nor how addresses are found
/// (PeerRouting) or kept (AddressBook).
///
///     Swarm swarm(runtime, identity, book, options);
///     WAGGLE_CO_TRY_STATUS(swarm.listen());
///     auto registration = swarm.serve("/x/1", handler);
///     ...
///     co_await swarm.close();   // before destruction
///
/// Thread: the network thread. Source: spec/libp2p.md sections 5 to 8, 10, 11, 18.
class Swarm final : public Host {
 public:
  static constexpr int kListenPorts = 32;

  /// `identity` and `book` must outlive it.
  Swarm(Runtime& runtime,
        crypto::Identity const& identity,
        AddressBook& book,
        SwarmOptions options);
  /// Asserts that close() has been awaited.
  ~Swarm() override;

  /// Binds and begins to accept. Nothing happens without a listen_host.
  /// Errors: io (every port of the range is busy, or not ours to take), invalid (host).
  [[nodiscard]] Status listen();
  /// The port taken by listen(); 0 if we do not listen.
  [[nodiscard]] std::uint16_t listen_port() const noexcept;
  /// Stops everything: connections get a GoAway, handlers are cancelled and waited for.
  [[nodiscard]] Co<void> close();

  [[nodiscard]] Runtime& runtime() const noexcept override;
  [[nodiscard]] PeerId const& self() const noexcept override;
  [[nodiscard]] Co<Result<std::unique_ptr<Stream>>> open(PeerId peer,
                                                         std::string_view protocol,
                                                         TimePoint deadline) override;
  [[nodiscard]] Registration serve(std::string protocol, Handler handler) override;
  void add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) override;
  [[nodiscard]] Co<Status> connect(PeerId peer, TimePoint deadline) override;
  [[nodiscard]] bool connected(PeerId const& peer) const override;
  [[nodiscard]] std::vector<PeerInfo> peers() const override;
  [[nodiscard]] std::vector<wire::Multiaddr> addresses() const override;

  /// Ends all connections to `peer`.
  void disconnect(PeerId const& peer);
  /// Dials one address, which may lack /p2p/. The peer that answers.
  /// Errors: refused (another peer than /p2p/ says, ourselves), closed, timeout, cancelled.
  [[nodiscard]] Co<Result<PeerId>> dial(wire::Multiaddr address, TimePoint deadline);

  /// Asked for addresses once those known do not work. Null: nobody. Must outlive its use.
  void set_peer_routing(PeerRouting* routing) noexcept;
  /// Turns a relay address (…/p2p-circuit) into a raw pipe to the peer behind it; without one such
  /// addresses are not dialled.
  using RelayDialer =
      std::function<Co<Result<std::unique_ptr<Stream>>>(wire::Multiaddr, TimePoint)>;
  void set_relay_dialer(RelayDialer dialer);
  /// Makes a connection of a raw pipe: through a relay, or punched. `initiator`: we are the Noise
  /// initiator and yamux client. Errors: refused (`expected` is somebody else, limits), malformed,
  /// closed, timeout, cancelled.
  [[nodiscard]] Co<Result<PeerId>> adopt(std::unique_ptr<Stream> raw,
                                         wire::Multiaddr remote,
                                         bool initiator,
                                         std::optional<PeerId> expected,
                                         TimePoint deadline);

  /// Addresses beside those we listen on: a mapped port, a relay reservation. Told by identify
  /// push.
  void add_external_address(wire::Multiaddr const& address);
  void remove_external_address(wire::Multiaddr const& address);
  /// Where others see us, with the number of peers that said so (one vote a peer, inbound ones
  /// tell a dial's port, so few agree behind NAT).
  [[nodiscard]] std::vector<std::pair<wire::Multiaddr, std::size_t>> observed_addresses() const;

  /// Called after each identify or push of a connected peer.
  using Identified = std::function<void(PeerId const& peer,
                                        std::vector<std::string> const& protocols,
                                        std::vector<wire::Multiaddr> const& addresses)>;
  void on_identified(Identified observer);
  /// Called when the first connection to a peer is there and when the last has gone.
  void on_connection(std::function<void(PeerId const& peer, bool connected)> observer);

  /// Counts something malformed against a peer; past kMaxMisdeeds its connections are closed.
  void misbehaved(PeerId const& peer, std::string_view what);
  static constexpr int kMaxMisdeeds = 32;

  /// All bytes ever written to and read from sockets, dead connections and failed dials included.
  [[nodiscard]] std::uint64_t socket_bytes_out() const noexcept;
  [[nodiscard]] std::uint64_t socket_bytes_in() const noexcept;
  /// Bytes a second that all sockets together may read and write from now on, those that are open
  /// too; 0: no limit. A limit below RateLimit::kLeastRate is raised to it.
  void limit_rates(std::uint64_t download, std::uint64_t upload) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Dials `address` with a key made for this one call and tells who answers there, so that a peer
/// can find out whether its own PeerId answers elsewhere. Errors: closed, timeout, malformed,
/// cancelled.
[[nodiscard]] Co<Result<PeerId>> probe_identity(Runtime& runtime,
                                                wire::Multiaddr address,
                                                TimePoint deadline);

}  // namespace waggle::net
