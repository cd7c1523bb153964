// SPDX-License-Identifier: MIT
// From a PeerId to a connection: known addresses first, then peer routing.
#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/detail/swarm_state.hpp"

namespace waggle::net {
namespace {

using ConnectionPtr = std::shared_ptr<Connection>;

/// Addresses being tried, shared by the attempts of one dial.
struct Attempts {
  explicit Attempts(Runtime& runtime) : changed(runtime) {}

  Signal changed;
  std::size_t running = 0;
  bool connected = false;
  Error last{Errc::not_found, "no address"};
};

}  // namespace

// Both ends rank alike, so that they use the same one of several connections: direct before
// relayed, then the one whose initiator has the smaller id, then the oldest.
ConnectionPtr Swarm::State::best(PeerId const& peer) const {
  auto const found = connections.find(peer);
  if (found == connections.end()) return nullptr;
  bool const ours_is_smaller = identity.peer_id() < peer;
  ConnectionPtr best;
  auto const rank = [&](Connection const& c) {
    return std::pair(c.relayed ? 1 : 0, c.initiator == ours_is_smaller ? 0 : 1);
  };
  for (auto const& connection : found->second)
    if (connection->alive() && (!best || rank(*connection) < rank(*best))) best = connection;
  return best;
}

Co<Result<ConnectionPtr>> Swarm::State::reach(PeerId peer, TimePoint deadline) {
  if (auto connection = best(peer)) co_return std::move(connection);
  if (closing) co_return Error{Errc::closed, "the swarm is closing"};
  if (peer == identity.peer_id()) co_return Error{Errc::refused, "a peer does not dial itself"};
  auto const running = dials.find(peer);
  auto const dial = running == dials.end() ? std::make_shared<Dial>(runtime) : running->second;
  if (running == dials.end()) {
    // The dial may end, and leave the table, before spawn() returns.
    dials.emplace(peer, dial);
    scope.spawn("dial", run_dial(peer, dial));
  }
  for (;;) {
    if (auto connection = best(peer)) co_return std::move(connection);
    if (dial->finished) break;
    WAGGLE_CO_TRY_STATUS(co_await dial->done.wait(deadline));
  }
  if (dial->failure) co_return *dial->failure;
  co_return Error{Errc::closed, cat(crypto::to_text(peer), ": the connection ended at once")};
}

Co<void> Swarm::State::run_dial(PeerId peer, std::shared_ptr<Dial> dial) {
  auto const result = co_await dial_peer(peer);
  if (!result) {
    dial->failure = result.error();
    log::debug("net", "dial ", crypto::to_text(peer), ": ", result.error().detail);
  }
  dial->finished = true;
  dials.erase(peer);
  dial->done.notify_all();
}

Co<Status> Swarm::State::dial_peer(PeerId peer) {
  TimePoint const deadline = runtime.now() + kDialTime;
  auto known = book.addresses(peer);
  auto tried = co_await try_addresses(peer, known, deadline);
  if (tried || routing == nullptr || tried.error().code == Errc::cancelled)
    co_return std::move(tried);
  auto found = co_await routing->find_peer(peer, deadline);
  if (best(peer)) co_return ok();  // it came to us, or the look-up met it
  if (!found) {
    if (found.error().code == Errc::cancelled) co_return std::move(found).error();
    co_return std::move(tried);
  }
  std::erase_if(*found, [&](auto const& address) {
    return std::find(known.begin(), known.end(), address.without_peer_id()) != known.end();
  });
  if (found->empty()) co_return std::move(tried);
  co_return co_await try_addresses(peer, *std::move(found), deadline);
}

namespace {

// One attempt of a dial. `state` outlives it: it runs in a scope that the dial closes.
template <class State>
Co<void> attempt(State& state,
                 std::shared_ptr<Attempts> attempts,
                 PeerId peer,
                 wire::Multiaddr address,
                 TimePoint deadline) {
  auto connection = co_await state.dial_address(address, peer, deadline);
  --attempts->running;
  if (connection) {
    attempts->connected = true;
    state.book.succeeded(peer, address);
  } else if (connection.error().code != Errc::cancelled) {
    state.dial_failed(address);
    state.book.failed(peer, address);
    attempts->last =
        Error{connection.error().code, cat(address.text(), ": ", connection.error().detail)};
  }
  attempts->changed.notify_all();
}

}  // namespace

Co<Status> Swarm::State::try_addresses(PeerId peer,
                                       std::vector<wire::Multiaddr> candidates,
                                       TimePoint deadline) {
  auto const attempts = std::make_shared<Attempts>(runtime);
  if (candidates.empty())
    co_return Error{Errc::not_found, cat("no address of ", crypto::to_text(peer), " is known")};
  std::erase_if(candidates, [&](auto const& address) { return backing_off(address); });
  if (candidates.empty())
    co_return Error{Errc::closed,
                    cat("the addresses of ", crypto::to_text(peer), " failed moments ago")};
  std::stable_partition(candidates.begin(), candidates.end(), [](auto const& address) {
    return !address.is_relayed();
  });

  Scope scope_of_attempts(runtime);
  std::size_t next = 0;
  TimePoint next_start = runtime.now();
  Errc left = Errc::closed;
  while (!attempts->connected && !best(peer)) {
    bool const more = next < candidates.size();
    if (!more && attempts->running == 0) break;
    bool const may_start = more && attempts->running < kMaxParallelDials;
    if (may_start && (attempts->running == 0 || runtime.now() >= next_start)) {
      ++attempts->running;
      TimePoint const until = std::min(deadline, runtime.now() + kUpgradeTime);
      scope_of_attempts.spawn("attempt", attempt(*this, attempts, peer, candidates[next++], until));
      next_start = runtime.now() + kDialStagger;
      continue;
    }
    auto const waited = co_await attempts->changed.wait(may_start ? next_start : deadline);
    if (waited || (waited.error().code == Errc::timeout && runtime.now() < deadline)) continue;
    left = waited.error().code;
    break;
  }
  co_await scope_of_attempts.close();
  if (attempts->connected || best(peer)) co_return ok();
  if (left == Errc::cancelled) co_return Error{Errc::cancelled, "dial"};
  co_return std::move(attempts->last);
}

Co<Result<ConnectionPtr>> Swarm::State::dial_address(wire::Multiaddr address,
                                                     std::optional<PeerId> expected,
                                                     TimePoint deadline) {
  std::unique_ptr<Stream> pipe;
  std::shared_ptr<Traffic const> traffic;
  wire::Multiaddr remote = address;
  if (address.is_relayed()) {
    if (!relay_dialer) co_return Error{Errc::refused, "relays are not used"};
    auto work = relay_dialer(address, deadline);
    WAGGLE_CO_TRY(pipe, co_await std::move(work));
  } else {
    auto const target = address.tcp_target();
    if (!target) co_return Error{Errc::refused, "not an address for TCP"};
    WAGGLE_CO_TRY(auto socket, co_await tcp_dial(runtime, *target, total, deadline));
    traffic = socket->traffic();
    remote = socket->remote();
    pipe = std::move(socket);
  }
  WAGGLE_CO_TRY(
      auto secured,
      co_await upgrade(
          runtime, std::move(pipe), NoiseHandshake::Role::initiator, identity, expected, deadline));
  co_return add_connection(std::move(secured), remote, true, std::move(traffic));
}

bool Swarm::State::backing_off(wire::Multiaddr const& address) const {
  auto const found = back_offs.find(address);
  return found != back_offs.end() && found->second.until > runtime.now();
}

void Swarm::State::dial_failed(wire::Multiaddr const& address) {
  if (back_offs.size() >= kMaxBackOffs && !back_offs.contains(address)) back_offs.clear();
  auto& entry = back_offs[address];
  ++entry.failures;
  entry.until = runtime.now() + std::min(kBackOff * entry.failures * entry.failures, kMaxBackOff);
}

}  // namespace waggle::net
