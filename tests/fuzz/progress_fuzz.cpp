// SPDX-License-Identifier: MIT
#include <array>

#include "core/optim/belief.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Any msgpack as a progress record: what is read is written equal, and whatever it claims beside
// two honest peers, the estimate stays finite and the epoch theirs.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const value = wire::Msgpack::decode(fuzz::input(data, size));
  if (!value) return 0;
  auto const read = optim::LocalProgress::from_msgpack(*value);
  if (!read) return 0;
  auto const again = optim::LocalProgress::from_msgpack(read->to_msgpack());
  WAGGLE_ASSERT(again.has_value() && *again == *read);

  auto const us = *PeerId::from_bytes(as_bytes("us"));
  optim::Belief belief(us, 512, {});
  belief.entered(12, 1000);
  std::array<optim::Claim, 3> claims;
  claims[0].progress = *read;
  for (std::size_t i = 1; i < 3; ++i) {
    auto const name = cat("honest", i);
    claims[i].progress = {*PeerId::from_bytes(as_bytes(name)), 12, 100, 100, 1001, false};
  }
  for (std::size_t i = 0; i < 3; ++i) {
    claims[i].owner = to_bytes(cat("owner", i));
    claims[i].seen = claims[i].connected = true;
  }
  optim::LocalProgress const ours{us, 12, 100, 100, 1001, false};
  auto const view = belief.judge(ours, false, claims, 1001);
  WAGGLE_ASSERT(view.progress.epoch == 12, view.progress.epoch);
  WAGGLE_ASSERT(view.estimated >= 300 - 1e-6 && view.estimated <= 300 + 3 * 512.0, view.estimated);
  for (auto const& claim : claims) {
    auto const limit = belief.weight_limit(claim.progress.peer, 1002);
    WAGGLE_ASSERT(limit >= 0 && limit <= 512, limit);
  }
  return 0;
}
