// SPDX-License-Identifier: MIT
#pragma once

#include <map>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::dht {

/// Peers that just failed a find call are left alone for base · rate^n, n = earlier bans since the
/// last success. Departures from hivemind: a ban ends after kMaxBan at the latest; at most
/// kMaxPeers are remembered. Pure. Source: spec/hivemind-dht.md section 14.2.
class Blacklist {
 public:
  explicit Blacklist(Duration base = std::chrono::seconds(5), double rate = 2.0)
      : base_(base), rate_(rate) {}

  [[nodiscard]] bool contains(PeerId const& peer, TimePoint now) const;
  /// Bans the peer, unless it is banned already (calls that were under way say nothing new).
  void failed(PeerId const& peer, TimePoint now);
  void succeeded(PeerId const& peer);

  [[nodiscard]] std::size_t size() const noexcept { return bans_.size(); }

  static constexpr Duration kMaxBan = std::chrono::hours(1);
  static constexpr std::size_t kMaxPeers = 4096;

 private:
  struct Ban {
    TimePoint until;
    double next;  // seconds of the next ban
  };

  /// PeerIds begin alike, so their last bytes are compared first. Ordered, not hashed: strangers
  /// choose them, and could make a hash collide.
  struct ByEnd {
    [[nodiscard]] static std::uint64_t end_of(PeerId const& peer) noexcept {
      auto const bytes = peer.bytes();
      return bytes.size() < 8 ? 0 : load_le<std::uint64_t>(bytes.last(8));
    }

    [[nodiscard]] bool operator()(PeerId const& a, PeerId const& b) const noexcept {
      auto const x = end_of(a);
      auto const y = end_of(b);
      return x != y ? x < y : a < b;
    }
  };

  Duration base_;
  double rate_;
  std::map<PeerId, Ban, ByEnd> bans_;
};

}  // namespace waggle::dht
