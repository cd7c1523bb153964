// SPDX-License-Identifier: MIT
#include "core/averaging/group.hpp"

#include <algorithm>
#include <set>

#include "core/averaging/load_balance.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

std::optional<std::size_t> Group::position(PeerId const& peer) const noexcept {
  auto const found = std::find(members.begin(), members.end(), peer);
  if (found == members.end()) return std::nullopt;
  return static_cast<std::size_t>(found - members.begin());
}

MessageFromLeader Group::begin_message() const {
  return {MessageCode::begin_allreduce, id, std::nullopt, members, gathered_bytes};
}

Result<Group> make_group(Bytes id,
                         std::vector<PeerId> members,
                         std::vector<Bytes> gathered,
                         PeerId const& self) {
  if (members.size() != gathered.size())
    return Error{Errc::malformed,
                 cat("a group of ", members.size(), " gathered ", gathered.size())};
  if (members.size() < 2) return Error{Errc::refused, "a group of one"};
  if (members.size() > kMaxGroupSize)
    return Error{Errc::too_large, cat("a group of ", members.size(), ", at most ", kMaxGroupSize)};
  if (id.empty() || id.size() > kMaxGroupIdBytes) return Error{Errc::malformed, "group id"};
  if (std::set<PeerId>(members.begin(), members.end()).size() != members.size())
    return Error{Errc::malformed, "a peer stands twice in a group"};
  Group group{std::move(id), std::move(members), std::move(gathered), {}, 0};
  auto const place = group.position(self);
  if (!place) return Error{Errc::malformed, "the leader began without us"};
  group.self = *place;
  for (auto const& bytes : group.gathered_bytes) {
    WAGGLE_TRY(auto gather, Gather::parse(bytes));
    group.gathered.push_back(std::move(gather));
  }
  return group;
}

Result<std::vector<std::uint64_t>> group_fractions(Group const& group, std::size_t numel) {
  std::vector<std::optional<double>> bandwidths;
  for (auto const& gather : group.gathered)
    bandwidths.push_back(gather.mode == PeerMode::client ? std::optional(0.0) : gather.bandwidth);
  return load_balance(numel, bandwidths);
}

}  // namespace waggle::averaging
