// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net {

/// Provisional.
class AddressBook {
 public:
  explicit AddressBook(Runtime& runtime) : runtime_(runtime) {}

  void add(PeerId const& peer, std::span<wire::Multiaddr const> addresses, Duration ttl) {
    for (auto const& a : addresses) {
      auto& until = book_[peer][a];
      until = std::max(until, runtime_.now() + ttl);
    }
  }

  [[nodiscard]] std::vector<wire::Multiaddr> addresses(PeerId const& peer) const {
    std::vector<wire::Multiaddr> all;
    if (auto const found = book_.find(peer); found != book_.end())
      for (auto const& [a, until] : found->second)
        if (until > runtime_.now()) all.push_back(a);
    return all;
  }

 private:
  Runtime& runtime_;
  std::map<PeerId, std::map<wire::Multiaddr, TimePoint>> book_;
};

}  // namespace waggle::net
