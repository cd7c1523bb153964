// SPDX-License-Identifier: MIT
#include "core/optim/agreed_epoch.hpp"

#include <algorithm>

namespace waggle::optim {

std::int64_t agreed_epoch(std::vector<wire::Msgpack> const& gathered, std::int64_t own) {
  std::vector<std::int64_t> claims;
  for (auto const& user : gathered)
    if (auto const* const epoch = user.find("epoch"); epoch != nullptr && epoch->integer())
      claims.push_back(*epoch->integer());
  if (claims.size() < 2) return own;
  // In descending order the claim at half the size is the highest that more than half have reached.
  std::sort(claims.begin(), claims.end(), std::greater<>());
  auto const reached = claims[claims.size() / 2];
  if (reached < own - 1) return own;
  return std::min(reached, own + 1);
}

}  // namespace waggle::optim
