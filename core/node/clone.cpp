// SPDX-License-Identifier: MIT
#include "core/node/clone.hpp"

#include "core/base/scope.hpp"
#include "core/crypto/keys.hpp"
#include "core/net/address_book.hpp"
#include "core/net/kad/service.hpp"
#include "core/net/swarm.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMaxSeeds = 8;  // asked at once; more: a longer start for little more news
constexpr Duration kLook = std::chrono::milliseconds(20);
// From a connection to the seed's name in our table: identify, then its first answer.
constexpr Duration kSettle = std::chrono::milliseconds(700);

/// What the seeds' dials share.
struct Asking {
  std::size_t left = 0;
  bool met = false;
};

Co<void> meet(net::Swarm& swarm, PeerId seed, Asking& asking, TimePoint deadline) {
  auto const met = co_await swarm.connect(seed, deadline);
  if (met) asking.met = true;
  --asking.left;
}

Co<void> dial(net::Swarm& swarm, PeerId self, bool& done, TimePoint deadline) {
  (void)co_await swarm.connect(self, deadline);
  done = true;
}

std::optional<wire::Multiaddr> where(net::Swarm const& swarm, PeerId const& self) {
  for (auto const& peer : swarm.peers())
    if (peer.id == self) return peer.address;
  return std::nullopt;
}

/// The steps of find_clone, between the making and the closing of its throw-away peer.
Co<std::optional<wire::Multiaddr>> search(net::Swarm& swarm,
                                          net::kad::Service& kad,
                                          Scope& scope,
                                          PeerId self,
                                          std::vector<wire::Multiaddr> const& own,
                                          std::vector<wire::Multiaddr> const& seeds,
                                          TimePoint deadline) {
  auto& runtime = swarm.runtime();
  Asking asking;
  for (auto const& seed : seeds) {
    auto const id = seed.peer_id();
    if (!id || *id == self || asking.left >= kMaxSeeds) continue;
    swarm.add_addresses(*id, std::span(&seed, 1));
    ++asking.left;
    scope.spawn("seed", meet(swarm, *id, asking, deadline));
  }
  bool dialled = own.empty();
  if (!own.empty()) {
    swarm.add_addresses(self, own);
    scope.spawn("own address", dial(swarm, self, dialled, deadline));
  }
  while (runtime.now() < deadline) {
    if (auto const found = where(swarm, self)) co_return found;
    if (dialled && asking.left == 0) break;
    auto const slept = co_await runtime.sleep_for(kLook);
    if (!slept) co_return std::nullopt;
  }
  if (!asking.met) co_return std::nullopt;
  auto const settled = std::min(deadline, runtime.now() + kSettle);
  while (kad.table_size() == 0 && runtime.now() < settled) {
    auto const slept = co_await runtime.sleep_for(kLook);
    if (!slept) co_return std::nullopt;
  }
  auto told = co_await kad.find_peer(self, deadline);
  if (!told) co_return where(swarm, self);
  for (auto& address : *told) {
    auto const asked = address;
    auto const answered = co_await swarm.dial(std::move(address), deadline);
    if (answered && *answered == self) co_return asked;
    if (!answered && answered.error().code == Errc::cancelled) co_return std::nullopt;
  }
  co_return std::nullopt;
}

}  // namespace

Co<std::optional<wire::Multiaddr>> find_clone(Runtime& runtime,
                                              PeerId self,
                                              std::vector<wire::Multiaddr> own,
                                              std::vector<wire::Multiaddr> seeds,
                                              Duration patience) {
  auto const nobody = crypto::Identity::generate();
  net::AddressBook book(runtime);
  net::SwarmOptions options;
  options.listen_host = "";
  net::Swarm swarm(runtime, nobody, book, options);
  net::kad::ServiceOptions ask_only;
  ask_only.server_mode = false;
  net::kad::Service kad(swarm, book, ask_only);
  swarm.on_identified([&kad](auto const& peer, auto const& protocols, auto const& addresses) {
    kad.identified(peer, protocols, addresses);
  });
  Scope scope(runtime);
  auto const found = co_await search(swarm, kad, scope, self, own, seeds, runtime.now() + patience);
  co_await scope.close();
  co_await kad.close();
  co_await swarm.close();
  co_return found;
}

}  // namespace waggle::node
