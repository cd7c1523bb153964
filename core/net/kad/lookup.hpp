// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/net/kad/id.hpp"
#include "core/net/kad/message.hpp"

namespace waggle::net::kad {

/// One iterative search for the peers closest to a target, as a pure machine: says whom to ask
/// next, is told what they said. Over when the kDone closest peers that did not fail have answered.
/// Cost: it remembers at most kMaxKnown peers; beyond that the farthest are forgotten.
/// Source: spec/hivemind-dht.md section 4.4.
class Lookup {
 public:
  static constexpr std::size_t kParallel = 10;   ///< α
  static constexpr std::size_t kDone = 3;        ///< go's β
  static constexpr std::size_t kMaxKnown = 256;  ///< liars could name more for ever

  Lookup(Id target, PeerId self, std::span<PeerId const> seeds);

  /// The closest peer not yet asked, now to be asked; nothing while kParallel are being asked, or
  /// when there is none left that matters.
  [[nodiscard]] std::optional<PeerId> next();
  void answered(PeerId const& peer, std::span<PeerEntry const> closer);
  void failed(PeerId const& peer);

  [[nodiscard]] bool done() const;

  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

  /// How many were asked so far.
  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }

 private:
  enum class State : std::uint8_t { heard, asking, answered, failed };

  struct Known {
    PeerId peer;
    State state = State::heard;
  };

  void hear(PeerId const& peer);
  void settle(PeerId const& peer, State state);

  Id target_;
  PeerId self_;
  std::map<Id, Known> known_;  // by distance
  std::size_t in_flight_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace waggle::net::kad
