// SPDX-License-Identifier: MIT
#include "core/net/detail/connection.hpp"

#include <algorithm>

#include "core/net/detail/lazy_stream.hpp"
#include "core/net/multistream.hpp"

namespace waggle::net {

bool Connection::serves(std::string_view protocol) const noexcept {
  return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
}

PeerInfo Connection::info() const {
  PeerInfo info;
  info.id = remote;
  info.address = address;
  info.relayed = relayed;
  info.inbound = !initiator;
  info.agent = agent;
  info.protocols = protocols;
  info.round_trip = session->round_trip();
  if (traffic) {
    info.bytes_in = traffic->in;
    info.bytes_out = traffic->out;
  }
  info.since = since;
  return info;
}

Co<Result<std::unique_ptr<Stream>>> Connection::open(std::shared_ptr<Connection> connection,
                                                     std::string protocol,
                                                     TimePoint deadline) {
  WAGGLE_CO_TRY(auto stream, co_await connection->session->open(deadline));
  if (connection->serves(protocol)) {
    Bytes const opening = multistream::opening(protocol);
    WAGGLE_CO_TRY_STATUS(co_await stream->write(opening, deadline));
    co_return std::make_unique<LazyStream>(std::move(stream), protocol);
  }
  WAGGLE_CO_TRY_STATUS(co_await multistream::propose(*stream, protocol, deadline));
  co_return std::move(stream);
}

}  // namespace waggle::net
