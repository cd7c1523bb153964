// SPDX-License-Identifier: MIT
#include "core/net/swarm.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/detail/swarm_state.hpp"
#include "core/net/ping.hpp"

namespace waggle::net {
namespace {

constexpr Duration kCloseTime = std::chrono::seconds(1);

Co<void> serve_ping(Runtime& runtime, Incoming incoming) {
  return ping::serve(runtime, std::move(incoming));
}

}  // namespace

Swarm::Swarm(Runtime& runtime,
             crypto::Identity const& identity,
             AddressBook& book,
             SwarmOptions options)
    : state_(std::make_unique<State>(runtime, identity, book, std::move(options))) {
  State& s = *state_;
  s.registry->owner = &s;
  Handler handler = [&runtime](Incoming incoming) {
    return serve_ping(runtime, std::move(incoming));
  };
  s.registry->handlers.emplace(ping::kProtocol, std::make_shared<Handler>(std::move(handler)));
  s.scope.spawn("identify pushes", s.push_loop());
  s.scope.spawn("address refresh", s.refresh_loop());
}

Swarm::~Swarm() {
  state_->registry->owner = nullptr;
  WAGGLE_ASSERT(state_->scope.size() == 0, "a Swarm is closed before it is destroyed");
}

Co<void> Swarm::close() {
  State& s = *state_;
  s.closing = true;
  if (s.listener) s.listener->close();
  TimePoint const deadline = s.runtime.now() + kCloseTime;
  std::vector<State::ConnectionPtr> all;
  for (auto const& [peer, connections] : s.connections)
    all.insert(all.end(), connections.begin(), connections.end());
  for (auto const& connection : all) co_await connection->session->close(deadline);
  all.clear();
  co_await s.scope.close();
}

Runtime& Swarm::runtime() const noexcept {
  return state_->runtime;
}

PeerId const& Swarm::self() const noexcept {
  return state_->identity.peer_id();
}

namespace {

template <class State>
Co<Result<std::unique_ptr<Stream>>> open_stream(State& s,
                                                PeerId peer,
                                                std::string protocol,
                                                TimePoint deadline) {
  for (int tries = 0;; ++tries) {
    WAGGLE_CO_TRY(auto const connection, co_await s.reach(peer, deadline));
    auto stream = co_await Connection::open(connection, protocol, deadline);
    // libp2p's own protocols are spoken with everybody; whose others we use is no stranger.
    if (stream && !protocol.starts_with("/ipfs/")) connection->session->count_in(s.companions);
    // A connection that died under us is worth one more.
    if (stream || connection->alive() || tries > 0 || stream.error().code == Errc::cancelled)
      co_return std::move(stream);
  }
}

template <class State>
Co<Status> reach_peer(State& s, PeerId peer, TimePoint deadline) {
  WAGGLE_CO_TRY_STATUS(co_await s.reach(peer, deadline));
  co_return ok();
}

template <class State>
Co<Result<PeerId>> dial_one(State& s, wire::Multiaddr address, TimePoint deadline) {
  WAGGLE_CO_TRY(auto const connection,
                co_await s.dial_address(address, address.peer_id(), deadline));
  co_return connection->remote;
}

template <class State>
Co<Result<PeerId>> adopt_pipe(State& s,
                              std::unique_ptr<Stream> raw,
                              wire::Multiaddr remote,
                              bool initiator,
                              std::optional<PeerId> expected,
                              TimePoint deadline) {
  auto const role = initiator ? NoiseHandshake::Role::initiator : NoiseHandshake::Role::responder;
  WAGGLE_CO_TRY(auto secured,
                co_await upgrade(s.runtime, std::move(raw), role, s.identity, expected, deadline));
  WAGGLE_CO_TRY(auto const connection,
                s.add_connection(std::move(secured), remote, initiator, nullptr));
  co_return connection->remote;
}

}  // namespace

Co<Result<std::unique_ptr<Stream>>> Swarm::open(PeerId peer,
                                                std::string_view protocol,
                                                TimePoint deadline) {
  return open_stream(*state_, peer, std::string(protocol), deadline);
}

Co<Status> Swarm::connect(PeerId peer, TimePoint deadline) {
  return reach_peer(*state_, peer, deadline);
}

Co<Result<PeerId>> Swarm::dial(wire::Multiaddr address, TimePoint deadline) {
  return dial_one(*state_, std::move(address), deadline);
}

Co<Result<PeerId>> Swarm::adopt(std::unique_ptr<Stream> raw,
                                wire::Multiaddr remote,
                                bool initiator,
                                std::optional<PeerId> expected,
                                TimePoint deadline) {
  return adopt_pipe(*state_, std::move(raw), std::move(remote), initiator, expected, deadline);
}

Registration Swarm::serve(std::string protocol, Handler handler) {
  auto& handlers = state_->registry->handlers;
  bool const fresh =
      handlers.try_emplace(protocol, std::make_shared<Handler>(std::move(handler))).second;
  WAGGLE_ASSERT(fresh, "served twice: ", protocol);
  state_->changed_protocols_or_addresses();
  return Registration([registry = state_->registry, protocol] {
    registry->handlers.erase(protocol);
    if (registry->owner != nullptr) registry->owner->changed_protocols_or_addresses();
  });
}

void Swarm::add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) {
  std::vector<wire::Multiaddr> plain;
  for (auto const& address : addresses) plain.push_back(address.without_peer_id());
  state_->book.add(peer, plain, kIdentifiedTtl);
}

bool Swarm::connected(PeerId const& peer) const {
  return state_->best(peer) != nullptr;
}

std::vector<PeerInfo> Swarm::peers() const {
  std::vector<PeerInfo> all;
  for (auto const& [peer, connections] : state_->connections)
    for (auto const& connection : connections) all.push_back(connection->info());
  return all;
}

std::vector<wire::Multiaddr> Swarm::addresses() const {
  return state_->addresses();
}

void Swarm::disconnect(PeerId const& peer) {
  auto const found = state_->connections.find(peer);
  if (found == state_->connections.end()) return;
  for (auto const& connection : found->second)
    connection->session->abort(Error{Errc::closed, "disconnected here"});
}

void Swarm::set_peer_routing(PeerRouting* routing) noexcept {
  state_->routing = routing;
}

void Swarm::set_relay_dialer(RelayDialer dialer) {
  state_->relay_dialer = std::move(dialer);
}

void Swarm::add_external_address(wire::Multiaddr const& address) {
  auto& external = state_->external;
  if (std::find(external.begin(), external.end(), address) != external.end()) return;
  external.push_back(address);
  state_->changed_protocols_or_addresses();
}

void Swarm::remove_external_address(wire::Multiaddr const& address) {
  if (std::erase(state_->external, address) > 0) state_->changed_protocols_or_addresses();
}

std::vector<std::pair<wire::Multiaddr, std::size_t>> Swarm::observed_addresses() const {
  std::vector<std::pair<wire::Multiaddr, std::size_t>> all;
  for (auto const& [address, voters] : state_->observed) all.emplace_back(address, voters.size());
  return all;
}

void Swarm::on_identified(Identified observer) {
  state_->identified_observers.push_back(std::move(observer));
}

void Swarm::on_connection(std::function<void(PeerId const&, bool)> observer) {
  state_->connection_observers.push_back(std::move(observer));
}

void Swarm::misbehaved(PeerId const& peer, std::string_view what) {
  if (auto const connection = state_->best(peer)) state_->misbehaved(*connection, what);
}

void Swarm::limit_rates(std::uint64_t download, std::uint64_t upload) noexcept {
  auto const rate = [](std::uint64_t wanted) {
    return wanted == 0 ? 0 : std::max(wanted, RateLimit::kLeastRate);
  };
  auto const now = state_->runtime.now();
  state_->total->download.set(rate(download), now);
  state_->total->upload.set(rate(upload), now);
}

std::uint64_t Swarm::socket_bytes_out() const noexcept {
  return state_->total->out;
}

std::uint64_t Swarm::socket_bytes_in() const noexcept {
  return state_->total->in;
}

namespace {

Co<Result<PeerId>> probe(Runtime& runtime, wire::Multiaddr address, TimePoint deadline) {
  auto const target = address.tcp_target();
  if (!target) co_return Error{Errc::malformed, cat("not an address for TCP: ", address.text())};
  auto const nobody = crypto::Identity::generate();
  WAGGLE_CO_TRY(auto socket,
                co_await tcp_dial(runtime, *target, std::make_shared<SharedTraffic>(), deadline));
  std::unique_ptr<Stream> pipe = std::move(socket);
  WAGGLE_CO_TRY(auto const secured,
                co_await upgrade(runtime,
                                 std::move(pipe),
                                 NoiseHandshake::Role::initiator,
                                 nobody,
                                 std::nullopt,
                                 deadline));
  co_return secured.remote;
}

}  // namespace

Co<Result<PeerId>> probe_identity(Runtime& runtime, wire::Multiaddr address, TimePoint deadline) {
  return probe(runtime, std::move(address), deadline);
}

}  // namespace waggle::net
