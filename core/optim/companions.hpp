// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>

#include "core/base/scope.hpp"
#include "core/dht/dht.hpp"
#include "core/optim/belief.hpp"

namespace waggle::optim {

/// Who of the swarm was met, and the way to the rest. A record counts once its peer was met, so we
/// go and meet it. Whoever was of this swarm and is gone without a word is dialled for an hour, and
/// who answers is taken into the DHT again: so a swarm that was cut in two finds itself, although
/// its DHT fell apart as well. Thread: the network thread.
class Companions {
 public:
  struct Hooks {
    std::function<void()> back;     ///< a lost one answered, and is in the DHT again
    std::function<void()> dialled;  ///< one was met, or cannot be now
  };

  Companions(net::Host& host, dht::Dht& dht, Hooks hooks);
  [[nodiscard]] Co<void> close();

  /// Whether it was met, now or earlier.
  [[nodiscard]] bool met(PeerId const& peer) const;
  /// Says of each claim whether its peer was met and is connected; who is, is a companion from here
  /// on.
  void look(std::span<Claim> claims);
  /// It is not looked for again.
  void took_leave(PeerId const& peer);
  /// Dials those of the newest records that are not connected, and companions that are lost.
  void meet(std::span<Claim const> claims);

  /// Whether somebody is being dialled.
  [[nodiscard]] bool dialling() const noexcept { return dials_in_flight_ > 0; }

 private:
  struct Dial {
    TimePoint next{};
    Duration wait{};
    bool running = false;
  };

  struct Companion {
    TimePoint last{};   ///< when it was last connected and had a record
    bool told = false;  ///< that it is back, since then
  };

  Co<void> dial(PeerId peer);
  void start_dial(PeerId const& peer);

  net::Host& host_;
  Runtime& runtime_;
  dht::Dht& dht_;
  Hooks hooks_;
  std::set<PeerId> met_;
  std::map<PeerId, Companion> companions_;  ///< until they take leave
  std::map<PeerId, Dial> dials_;
  std::size_t dials_in_flight_ = 0;
  Scope scope_;
};

}  // namespace waggle::optim
