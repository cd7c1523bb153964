// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/scope.hpp"
#include "core/crypto/keys.hpp"
#include "core/net/host.hpp"
#include "core/net/tcp.hpp"
#include "core/net/yamux_connection.hpp"

namespace waggle::net {

/// One authenticated connection of the Swarm. Its scope holds the session's coroutines, our
/// identify request and all handlers that serve its streams.
struct Connection {
  explicit Connection(Runtime& runtime) : scope(runtime) {}

  PeerId remote;
  wire::Multiaddr address;  ///< the other end, without /p2p/
  bool initiator = false;
  bool relayed = false;
  TimePoint since{};
  std::shared_ptr<Traffic const> traffic;  ///< null if relayed: another connection's bytes

  // What identify said.
  bool identified = false;
  std::string agent;
  std::vector<std::string> protocols;
  std::vector<wire::Multiaddr> addresses;
  /// Which version of our own protocols and addresses this peer was told last.
  std::uint64_t told = 0;

  int misdeeds = 0;
  std::size_t inbound_streams = 0;  ///< being served
  Scope scope;
  std::unique_ptr<YamuxConnection> session;

  [[nodiscard]] bool alive() const noexcept { return session->alive(); }

  [[nodiscard]] bool serves(std::string_view protocol) const noexcept;

  [[nodiscard]] PeerInfo info() const;

  /// Opens a stream and proposes `protocol`: without waiting for the answer where identify said
  /// that it is served. Errors: refused, closed, timeout, cancelled.
  [[nodiscard]] static Co<Result<std::unique_ptr<Stream>>> open(
      std::shared_ptr<Connection> connection, std::string protocol, TimePoint deadline);
};

}  // namespace waggle::net
