// SPDX-License-Identifier: MIT
#include "core/optim/companions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::optim {
namespace {

constexpr std::size_t kMostRemembered = 4096;
constexpr std::size_t kDialsAtOnce = 8;
constexpr Duration kDialTimeout = std::chrono::seconds(10);
constexpr Duration kFirstRedial = std::chrono::seconds(2);
constexpr Duration kLastRedial = std::chrono::minutes(5);
// Somebody of this swarm is looked for more eagerly, and for so long.
constexpr Duration kLastRejoin = std::chrono::seconds(20);
constexpr Duration kRejoinFor = std::chrono::hours(1);
constexpr Duration kRejoinTime = std::chrono::seconds(20);

}  // namespace

Companions::Companions(net::Host& host, dht::Dht& dht, Hooks hooks)
    : host_(host),
      runtime_(host.runtime()),
      dht_(dht),
      hooks_(std::move(hooks)),
      scope_(host.runtime()) {
}

Co<void> Companions::close() {
  co_await scope_.close();
}

bool Companions::met(PeerId const& peer) const {
  return host_.connected(peer) || met_.contains(peer);
}

void Companions::look(std::span<Claim> claims) {
  for (auto& claim : claims) {
    auto const& peer = claim.progress.peer;
    claim.connected = host_.connected(peer);
    if (claim.connected) {
      met_.insert(peer);
      companions_[peer] = {runtime_.now(), false};
    }
    claim.seen = claim.connected || met_.contains(peer);
  }
}

void Companions::took_leave(PeerId const& peer) {
  companions_.erase(peer);
}

// A companion without a record is lost, too, connected or not: after a long sleep connections may
// live on while the DHT's nodes have forgotten each other.
void Companions::meet(std::span<Claim const> claims) {
  if (dials_.size() > kMostRemembered)
    std::erase_if(dials_, [](auto const& entry) { return !entry.second.running; });
  if (met_.size() > kMostRemembered) met_.clear();
  std::erase_if(companions_, [&](auto const& entry) {
    return runtime_.now() > entry.second.last + kRejoinFor || companions_.size() > kMostRemembered;
  });
  std::set<PeerId> claiming;
  for (auto const& claim : claims) {
    claiming.insert(claim.progress.peer);
    if (!claim.connected) start_dial(claim.progress.peer);
  }
  for (auto const& [peer, companion] : companions_)
    if (!host_.connected(peer) || !claiming.contains(peer)) start_dial(peer);
}

void Companions::start_dial(PeerId const& peer) {
  if (dials_in_flight_ >= kDialsAtOnce) return;
  auto& dial_state = dials_[peer];
  if (dial_state.running || runtime_.now() < dial_state.next) return;
  dial_state.running = true;
  ++dials_in_flight_;
  scope_.spawn("dial a peer of the swarm", dial(peer));
}

Co<void> Companions::dial(PeerId peer) {
  auto const connected = co_await host_.connect(peer, runtime_.now() + kDialTimeout);
  if (connected && companions_.contains(peer)) {
    // It was away, and so perhaps was the part of the DHT that it knows.
    std::vector<PeerId> one(1, peer);
    auto const joined = co_await dht_.bootstrap(std::move(one), runtime_.now() + kRejoinTime);
    if (joined) {
      // Its record may never come: a connected one is asked again and again, but announced once.
      if (auto const found = companions_.find(peer);
          found != companions_.end() && !std::exchange(found->second.told, true))
        log::info("optim", crypto::short_text(peer), " is back");
      hooks_.back();
    }
  }
  bool const companion = companions_.contains(peer);
  --dials_in_flight_;
  auto& state = dials_[peer];
  state.running = false;
  if (connected) {
    met_.insert(peer);
    state = Dial{};
    if (companion) state.next = runtime_.now() + kLastRejoin;
  } else {
    state.wait = std::clamp(2 * state.wait, kFirstRedial, companion ? kLastRejoin : kLastRedial);
    state.next = runtime_.now() + state.wait;
    log::debug("optim",
               crypto::short_text(peer),
               " has a record and cannot be reached: ",
               connected.error().detail);
  }
  hooks_.dialled();
}

}  // namespace waggle::optim
