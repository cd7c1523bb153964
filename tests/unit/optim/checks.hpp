// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tests/unit/optim/swarm.hpp"

/// What tests of whole swarms ask about.
namespace waggle::test {

using Peers = std::vector<OptimSwarm::Peer*>;

inline Peers start_all(OptimSwarm& swarm, std::size_t n, ToyModel const& model) {
  Peers peers;
  for (std::size_t i = 0; i < n; ++i) peers.push_back(&swarm.add(model));
  for (auto* p : peers) swarm.start(*p);
  return peers;
}

/// The largest difference of a parameter between the first and another.
inline double spread(Peers const& peers) {
  double worst = 0;
  for (auto* a : peers)
    for (std::size_t i = 0; i < a->trainer->w.size(); ++i)
      worst = std::max(worst, std::abs(double(a->trainer->w[i]) - peers[0]->trainer->w[i]));
  return worst;
}

/// Epochs after `from` that took longer than `limit`.
inline std::size_t slow_epochs(OptimSwarm::Peer const& peer, std::int64_t from, Duration limit) {
  std::size_t n = 0;
  for (auto const& r : peer.reports)
    if (r.epoch > from && r.took > limit) ++n;
  return n;
}

/// Of the epochs after `from`.
inline Duration median_epoch(OptimSwarm::Peer const& peer, std::int64_t from = 0) {
  std::vector<Duration> took;
  for (auto const& r : peer.reports)
    if (r.epoch > from) took.push_back(r.took);
  if (took.empty()) return Duration::max();
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

inline void check_clean(Peers const& peers) {
  for (auto* p : peers) {
    CHECK(!p->trainer->applied_nonfinite);
    CHECK(!p->trainer->applied_zeros);
  }
}

}  // namespace waggle::test
