// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/averaging/gather.hpp"
#include "core/averaging/messages.hpp"
#include "core/averaging/schema.hpp"
#include "core/base/ids.hpp"

namespace waggle::averaging {

/// Peers that run one all-reduce together, as each member learns it from the leader.
struct Group {
  Bytes id;
  std::vector<PeerId> members;        ///< ordered_peer_ids: positions mean something
  std::vector<Bytes> gathered_bytes;  ///< as travelled, in the same order
  std::vector<Gather> gathered;
  std::size_t self = 0;  ///< our position

  [[nodiscard]] std::size_t size() const noexcept { return members.size(); }

  [[nodiscard]] std::optional<std::size_t> position(PeerId const& peer) const noexcept;
  [[nodiscard]] MessageFromLeader begin_message() const;
};

/// Checks what a leader said, or what we are about to say. Errors: malformed (we are not in it, a
/// peer twice, lengths differ, a gather that does not parse), refused (fewer than two members).
[[nodiscard]] Result<Group> make_group(Bytes id,
                                       std::vector<PeerId> members,
                                       std::vector<Bytes> gathered,
                                       PeerId const& self);

/// Each member's share of the vector, from what was gathered: the same on every member.
/// Errors: refused (nobody can reduce).
[[nodiscard]] Result<std::vector<std::uint64_t>> group_fractions(Group const& group,
                                                                 std::size_t numel);

}  // namespace waggle::averaging
