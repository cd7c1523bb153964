// SPDX-License-Identifier: MIT
#include "core/node/session/volunteers.hpp"

#include <algorithm>
#include <utility>

#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

constexpr double kMost = 1e15;  // of a claim, on view: more says nothing

}  // namespace

std::vector<VolunteerView> volunteers(std::span<optim::Standing const> peers, double now) {
  std::vector<VolunteerView> out;
  for (bool const believed : {true, false})
    for (auto const& p : peers) {
      auto id = crypto::to_text(p.peer);
      if (p.believed != believed || std::ranges::find(out, id, &VolunteerView::id) != out.end())
        continue;
      out.push_back({std::move(id),
                     believed ? std::min(p.samples_per_second, kMost) : 0,
                     believed ? static_cast<std::uint64_t>(std::min(p.samples, kMost)) : 0,
                     p.epoch,
                     std::clamp(now - p.time, 0.0, kMost),
                     p.connected,
                     p.reason});
    }
  return out;
}

}  // namespace waggle::node
