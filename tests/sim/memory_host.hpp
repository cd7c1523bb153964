// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/base/scope.hpp"
#include "core/net/address_book.hpp"
#include "core/net/host.hpp"

#include "tests/sim/faults.hpp"
#include "tests/sim/links.hpp"
#include "tests/sim/memory_stream.hpp"

namespace waggle::sim {

class MemoryHost;

/// A PeerId of Ed25519's form for number `n`; nobody holds its key.
[[nodiscard]] PeerId peer(std::uint64_t n);

/// Joins MemoryHosts by PeerId. Must outlive them and their streams. Works on any Runtime.
class MemoryNetwork {
 public:
  explicit MemoryNetwork(Runtime& runtime, Links links = links::instant());

  [[nodiscard]] Runtime& runtime() const noexcept { return runtime_; }

  /// May be changed while the network runs; latencies hold for streams opened from then on.
  [[nodiscard]] Links& links() noexcept { return links_; }

  /// The live host of this name, or null.
  [[nodiscard]] MemoryHost* find(PeerId const& id) const;

  /// Of every stream opened from now on, both ends.
  Faults faults;
  /// Called for each stream that is opened: for traces and load counts.
  std::function<void(PeerId const& from, PeerId const& to, std::string_view protocol)> on_open;

 private:
  friend class MemoryHost;

  struct Place {
    PeerId id;
    MemoryHost* host = nullptr;  // null: dead
    std::shared_ptr<Uplink> uplink;
  };

  std::uint32_t enter(PeerId const& id, MemoryHost& host);
  void leave(std::uint32_t index);
  [[nodiscard]] bool cut(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] Path path(std::uint32_t from, std::uint32_t to);

  Runtime& runtime_;
  Links links_;
  std::deque<Place> places_;
  std::unordered_map<PeerId, std::uint32_t> index_;
};

/// A Host without sockets. The first stream to a peer costs the round trips of a dial, later ones
/// one. A handler runs in the host's scope.
class MemoryHost final : public net::Host {
 public:
  struct Options {
    /// Only connected peers, or those given to add_addresses(), can be opened; others are
    /// not_found. For peer routing. False: everybody is known.
    bool needs_addresses = false;
    /// With needs_addresses: those in here will do, too. Must outlive the host.
    net::AddressBook const* book = nullptr;
  };

  MemoryHost(MemoryNetwork& network, PeerId self);
  MemoryHost(MemoryNetwork& network, PeerId self, Options options);
  /// close() first if a handler may still run.
  ~MemoryHost() override;

  [[nodiscard]] Runtime& runtime() const noexcept override { return network_.runtime(); }

  [[nodiscard]] PeerId const& self() const noexcept override { return self_; }

  [[nodiscard]] Co<Result<std::unique_ptr<net::Stream>>> open(PeerId peer,
                                                              std::string_view protocol,
                                                              TimePoint deadline) override;
  [[nodiscard]] net::Registration serve(std::string protocol, net::Handler handler) override;
  void add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) override;
  [[nodiscard]] Co<Status> connect(PeerId peer, TimePoint deadline) override;
  [[nodiscard]] bool connected(PeerId const& peer) const override;
  [[nodiscard]] std::vector<net::PeerInfo> peers() const override;
  /// One made up from its number: 10.a.b.c, port 4001.
  [[nodiscard]] std::vector<wire::Multiaddr> addresses() const override;

  /// Dies: streams are reset (silent: the other ends are not told), handlers are cancelled, nobody
  /// can open to us any more. A new MemoryHost may then take the PeerId.
  void kill(bool silent = false) noexcept;
  /// kill(), then waits until all handlers have left.
  [[nodiscard]] Co<void> close();
  /// Forgets the connection, on both sides.
  void disconnect(PeerId const& peer);

  [[nodiscard]] bool alive() const noexcept { return alive_; }

  [[nodiscard]] std::vector<std::string> protocols() const;

  /// Payload bytes of all streams that this PeerId has written.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept;

  /// What the Swarm's identify would tell: called on both sides when a connection begins and ends.
  std::function<void(PeerId const& peer, std::vector<std::string> const& protocols)> on_connected;
  std::function<void(PeerId const& peer)> on_disconnected;

 private:
  friend class MemoryNetwork;

  struct Services {
    std::map<std::string, std::shared_ptr<net::Handler>, std::less<>> handlers;
  };

  void joined(std::uint32_t peer, bool inbound);
  void parted(std::uint32_t peer);
  Co<Status> reach(PeerId peer, TimePoint deadline, int extra_round_trips);

  MemoryNetwork& network_;
  PeerId self_;
  Options options_;
  std::uint32_t index_;
  bool alive_ = true;
  std::shared_ptr<Services> services_ = std::make_shared<Services>();
  std::shared_ptr<StreamSet> streams_ = std::make_shared<StreamSet>();
  std::unordered_map<std::uint32_t, bool> connections_;  // index → inbound
  std::unordered_set<PeerId> known_;
  Scope handlers_;
};

}  // namespace waggle::sim
