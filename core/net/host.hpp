// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/stream.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net {

/// What a handler is given: a stream on which its protocol was agreed, and who is at the other end.
struct Incoming {
  PeerId remote;
  std::string protocol;
  std::unique_ptr<Stream> stream;
};

/// Runs in the connection's scope; ends the stream by returning.
using Handler = std::function<Co<void>(Incoming)>;

/// One thing we serve, for as long as this lives. Its end is told to connected peers by identify
/// push.
class Registration {
 public:
  Registration() = default;

  explicit Registration(std::function<void()> withdraw) : withdraw_(std::move(withdraw)) {}

  Registration(Registration&& other) noexcept
      : withdraw_(std::exchange(other.withdraw_, nullptr)) {}

  Registration& operator=(Registration&& other) noexcept {
    if (this != &other) {
      reset();
      withdraw_ = std::exchange(other.withdraw_, nullptr);
    }
    return *this;
  }

  ~Registration() { reset(); }

  void reset() noexcept {
    if (auto withdraw = std::exchange(withdraw_, nullptr)) withdraw();
  }

 private:
  std::function<void()> withdraw_;
};

/// One live, authenticated connection, for people and for the Snapshot.
struct PeerInfo {
  PeerId id;
  wire::Multiaddr address;
  bool relayed = false;
  bool inbound = false;
  std::string agent;                   ///< identify's agent version, empty until known
  std::vector<std::string> protocols;  ///< what identify said it serves
  std::optional<Duration> round_trip;  ///< the last ping
  std::uint64_t bytes_in = 0;          ///< on the socket, all layers included
  std::uint64_t bytes_out = 0;
  TimePoint since{};
};

/// Opens protocol streams to peers and serves protocols: what dht/, averaging/ and blob/ are given.
/// Implementations: Swarm (core/net/swarm.hpp), MemoryHost (tests/sim/memory_host.hpp).
/// Thread: the network thread.
class Host {
 public:
  virtual ~Host() = default;

  [[nodiscard]] virtual Runtime& runtime() const noexcept = 0;
  [[nodiscard]] virtual PeerId const& self() const noexcept = 0;

  /// Opens a stream to `peer`: over an open connection, else to its known addresses, else after
  /// asking peer routing for them. Errors: not_found (no address), refused (protocol not served),
  /// closed, timeout, cancelled.
  [[nodiscard]] virtual Co<Result<std::unique_ptr<Stream>>> open(PeerId peer,
                                                                 std::string_view protocol,
                                                                 TimePoint deadline) = 0;

  /// Serves `protocol` (exact name) until the registration ends. Asserts that nobody serves it yet.
  [[nodiscard]] virtual Registration serve(std::string protocol, Handler handler) = 0;

  /// Makes addresses of a peer known, from a link or another peer's word: hints, dialled with the
  /// id check.
  virtual void add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) = 0;
  /// Dials until connected. Errors as open.
  [[nodiscard]] virtual Co<Status> connect(PeerId peer, TimePoint deadline) = 0;

  [[nodiscard]] virtual bool connected(PeerId const& peer) const = 0;
  [[nodiscard]] virtual std::vector<PeerInfo> peers() const = 0;
  /// Where we can be reached, without /p2p/; empty if we do not listen.
  [[nodiscard]] virtual std::vector<wire::Multiaddr> addresses() const = 0;
};

}  // namespace waggle::net
