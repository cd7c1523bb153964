// SPDX-License-Identifier: MIT
#include "core/net/kad/lookup.hpp"

namespace waggle::net::kad {

Lookup::Lookup(Id target, PeerId self, std::span<PeerId const> seeds)
    : target_(target), self_(self) {
  for (auto const& seed : seeds) hear(seed);
}

void Lookup::hear(PeerId const& peer) {
  if (peer == self_ || peer.empty()) return;
  Id const id = Id::of(peer);
  if (id == target_) return;
  known_.try_emplace(distance(target_, id), Known{peer});
  if (known_.size() <= kMaxKnown) return;
  auto const farthest = std::prev(known_.end());
  if (farthest->second.state != State::asking) known_.erase(farthest);
}

std::optional<PeerId> Lookup::next() {
  if (in_flight_ >= kParallel || done()) return std::nullopt;
  for (auto& [key, known] : known_) {
    if (known.state != State::heard) continue;
    known.state = State::asking;
    ++in_flight_;
    ++asked_;
    return known.peer;
  }
  return std::nullopt;
}

void Lookup::settle(PeerId const& peer, State state) {
  auto const found = known_.find(distance(target_, Id::of(peer)));
  if (found == known_.end() || found->second.state != State::asking) return;
  found->second.state = state;
  --in_flight_;
}

void Lookup::answered(PeerId const& peer, std::span<PeerEntry const> closer) {
  settle(peer, State::answered);
  for (auto const& entry : closer) hear(entry.id);
}

void Lookup::failed(PeerId const& peer) {
  settle(peer, State::failed);
}

bool Lookup::done() const {
  std::size_t answered = 0;
  for (auto const& [key, known] : known_) {
    if (known.state == State::failed) continue;
    if (known.state != State::answered) return false;
    if (++answered >= kDone) return true;
  }
  return true;
}

}  // namespace waggle::net::kad
