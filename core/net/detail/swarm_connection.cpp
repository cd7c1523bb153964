// SPDX-License-Identifier: MIT
// What runs on a connection of the Swarm, from the finished upgrade to its end.
#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/detail/swarm_state.hpp"
#include "core/net/multistream.hpp"
#include "core/wire/peer_record.hpp"

namespace waggle::net {
namespace {

constexpr Duration kIdentifyTime = std::chrono::seconds(30);
constexpr Duration kIdleBeforeTrim = std::chrono::seconds(60);
constexpr std::string_view kProtocolVersion = "ipfs/0.1.0";

/// A handler's own copy of its function lives as long as its coroutine.
Co<void> run_handler(std::shared_ptr<Handler> handler, Incoming incoming) {
  auto work = (*handler)(std::move(incoming));
  co_await std::move(work);
}

}  // namespace

bool Swarm::State::make_room() {
  if (connection_count < options.max_connections) return true;
  // Trim the connection that has been quiet for longest.
  ConnectionPtr quietest;
  for (auto const& [peer, all] : connections)
    for (auto const& connection : all)
      if (connection->alive() && connection->session->streams() == 0 &&
          runtime.now() - connection->since > kIdleBeforeTrim &&
          (!quietest || connection->session->last_heard() < quietest->session->last_heard()))
        quietest = connection;
  if (!quietest) return false;
  quietest->session->abort(Error{Errc::refused, "trimmed: too many connections"});
  return true;
}

Result<Swarm::State::ConnectionPtr> Swarm::State::add_connection(
    Secured secured,
    wire::Multiaddr address,
    bool initiator,
    std::shared_ptr<Traffic const> traffic) {
  auto& siblings = connections[secured.remote];
  if (siblings.size() >= options.max_connections_per_peer)
    return Error{Errc::refused,
                 cat(siblings.size(),
                     " connections to ",
                     crypto::to_text(secured.remote),
                     ", the limit is ",
                     options.max_connections_per_peer)};
  if (closing || !make_room()) {
    if (siblings.empty()) connections.erase(secured.remote);
    return Error{Errc::refused,
                 cat(connection_count, " connections, the limit is ", options.max_connections)};
  }
  auto connection = std::make_shared<Connection>(runtime);
  connection->remote = secured.remote;
  connection->relayed = address.is_relayed();
  connection->address = address.without_peer_id();
  connection->initiator = initiator;
  connection->since = runtime.now();
  connection->traffic = std::move(traffic);
  YamuxOptions session_options;
  session_options.keep_alive = options.keep_alive;
  session_options.backlog = strangers;
  session_options.stranger = true;
  // Well below what strangers may hold together, so that who sends much is slowed, not reset.
  session_options.limits.max_window = options.strangers_window;
  auto const role = initiator ? yamux::Session::Role::client : yamux::Session::Role::server;
  connection->session = std::make_unique<YamuxConnection>(
      runtime,
      std::move(secured.stream),
      role,
      session_options,
      connection->scope,
      [this, raw = connection.get()](std::unique_ptr<Stream> stream) {
        take_stream(*raw, std::move(stream));
      });
  bool const first = siblings.empty();
  siblings.push_back(connection);
  ++connection_count;
  // A peer that reached us is not to be punished for addresses that failed before.
  for (auto const& known : book.addresses(connection->remote)) back_offs.erase(known);
  scope.spawn("connection", run_connection(connection));
  connection->scope.spawn("identify", request_identify(connection));
  if (auto const dial = dials.find(connection->remote); dial != dials.end())
    dial->second->done.notify_all();
  if (first)
    for (auto const& observer : connection_observers) observer(connection->remote, true);
  return connection;
}

Co<void> Swarm::State::run_connection(ConnectionPtr connection) {
  auto const waited = co_await connection->session->ended();
  if (!waited) connection->session->abort(Error{Errc::closed, "the swarm was closed"});
  auto const why = connection->session->why();
  log::debug("net",
             "connection to ",
             crypto::short_text(connection->remote),
             " ended: ",
             why ? why->detail : std::string());
  if (why && (why->code == Errc::malformed || why->code == Errc::bad_signature))
    log::info("net", crypto::to_text(connection->remote), " broke the protocol: ", why->detail);

  auto const siblings = connections.find(connection->remote);
  std::erase(siblings->second, connection);
  --connection_count;
  bool const last = siblings->second.empty();
  if (last) connections.erase(siblings);
  if (!connection->addresses.empty())
    book.add(connection->remote, connection->addresses, kIdentifiedTtl);
  if (last)
    for (auto const& observer : connection_observers) observer(connection->remote, false);
  co_await connection->scope.close();
}

// Dropping a handle resets its stream.
void Swarm::State::take_stream(Connection& connection, std::unique_ptr<Stream> stream) {
  if (inbound_streams >= options.max_inbound_streams &&
      connection.inbound_streams >= SwarmOptions::kStreamsEach)
    return;
  ++inbound_streams;
  ++connection.inbound_streams;
  connection.scope.spawn("stream", serve_counted(connection, std::move(stream)));
}

Co<void> Swarm::State::serve_counted(Connection& connection, std::unique_ptr<Stream> stream) {
  co_await serve_stream(connection, std::move(stream));
  --connection.inbound_streams;
  --inbound_streams;
}

Co<void> Swarm::State::serve_stream(Connection& connection, std::unique_ptr<Stream> stream) {
  TimePoint const deadline = runtime.now() + kNegotiationTime;
  std::function<bool(std::string_view)> const serves = [this](std::string_view name) {
    return name == identify::kProtocol || name == identify::kPushProtocol ||
           registry->handlers.contains(name);
  };
  auto agreed = co_await multistream::answer(*stream, serves, deadline);
  if (!agreed) {
    if (agreed.error().code == Errc::malformed || agreed.error().code == Errc::too_large)
      misbehaved(connection, agreed.error().detail);
    stream->reset();
    co_return;
  }
  if (*agreed == identify::kProtocol) {
    co_await send_identify(connection, std::move(stream));
    co_return;
  }
  if (*agreed == identify::kPushProtocol) {
    co_await receive_push(connection, std::move(stream));
    co_return;
  }
  auto const found = registry->handlers.find(*agreed);
  if (found == registry->handlers.end()) co_return;  // withdrawn while the answer was written
  auto handler = found->second;
  Incoming incoming{connection.remote, *agreed, std::move(stream)};
  co_await run_handler(std::move(handler), std::move(incoming));
}

identify::Message Swarm::State::describe(Connection const& connection) const {
  identify::Message message;
  message.public_key = identity.public_key();
  message.listen_addresses = addresses();
  message.protocols = protocols();
  message.observed = connection.address;
  message.protocol_version = kProtocolVersion;
  message.agent = options.agent;
  wire::PeerRecord record;
  record.seq = static_cast<std::uint64_t>(runtime.unix_time() * 1e3);
  record.addresses = message.listen_addresses;
  message.signed_record = record.seal(identity);
  return message;
}

Co<void> Swarm::State::send_identify(Connection& connection, std::unique_ptr<Stream> stream) {
  connection.told = version;
  identify::Message message = describe(connection);
  (void)co_await identify::send(*stream, std::move(message), runtime.now() + kIdentifyTime);
}

Co<void> Swarm::State::request_identify(ConnectionPtr connection) {
  TimePoint const deadline = runtime.now() + kIdentifyTime;
  std::string const name(identify::kProtocol);
  auto stream = co_await Connection::open(connection, name, deadline);
  if (!stream) co_return;
  auto message = co_await identify::receive(runtime, **stream, deadline);
  if (!message) {
    if (message.error().code == Errc::malformed || message.error().code == Errc::too_large)
      misbehaved(*connection, message.error().detail);
    (*stream)->reset();
    co_return;
  }
  (void)co_await (*stream)->close_write(deadline);
  identified(*connection, *std::move(message));
  start_push(connection);
}

Co<void> Swarm::State::receive_push(Connection& connection, std::unique_ptr<Stream> stream) {
  auto message = co_await identify::receive(runtime, *stream, runtime.now() + kIdentifyTime);
  if (!message) {
    if (message.error().code != Errc::cancelled) misbehaved(connection, message.error().detail);
    stream->reset();
    co_return;
  }
  (void)co_await stream->close_write(runtime.now() + kIdentifyTime);
  identified(connection, *std::move(message));
}

// What a push leaves out is unchanged.
void Swarm::State::identified(Connection& connection, identify::Message message) {
  if (message.public_key && message.public_key->peer_id() != connection.remote) {
    misbehaved(connection, "identify with somebody else's key");
    return;
  }
  if (!message.agent.empty()) connection.agent = message.agent;
  if (!message.protocols.empty()) connection.protocols = std::move(message.protocols);
  auto addresses = identify::believed_addresses(message, connection.remote, connection.address);
  if (!addresses.empty()) {
    book.add(connection.remote, addresses, kIdentifiedTtl);
    connection.addresses = std::move(addresses);
  }
  if (message.observed && !connection.relayed && !message.observed->is_relayed() &&
      (observed.contains(*message.observed) || observed.size() < kMaxObserved))
    observed[*message.observed].insert(connection.remote);
  connection.identified = true;
  for (auto const& observer : identified_observers)
    observer(connection.remote, connection.protocols, connection.addresses);
}

void Swarm::State::start_push(ConnectionPtr const& connection) {
  // told == 0: the peer has not asked yet and will hear the newest when it does.
  if (!connection->alive() || connection->told == 0 || connection->told == version ||
      !connection->serves(identify::kPushProtocol))
    return;
  connection->told = version;
  connection->scope.spawn("identify push", push_identify(connection));
}

Co<void> Swarm::State::push_identify(ConnectionPtr connection) {
  TimePoint const deadline = runtime.now() + kIdentifyTime;
  std::string const name(identify::kPushProtocol);
  auto stream = co_await Connection::open(connection, name, deadline);
  if (!stream) co_return;
  identify::Message message = describe(*connection);
  (void)co_await identify::send(**stream, std::move(message), deadline);
  // The end of the peer's side says that it has read all: a reset now would lose the push.
  std::array<std::byte, 1> end;
  (void)co_await (*stream)->read_some(end, deadline);
}

void Swarm::State::misbehaved(Connection& connection, std::string_view what) {
  ++connection.misdeeds;
  log::debug("net", crypto::to_text(connection.remote), ": ", what);
  if (connection.misdeeds == Swarm::kMaxMisdeeds)
    connection.session->abort(
        Error{Errc::malformed, cat(connection.misdeeds, " malformed messages, the last: ", what)});
}

}  // namespace waggle::net
