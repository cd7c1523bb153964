// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

namespace waggle::averaging {

/// Where a swarm's peers look for a group: "<prefix>.0b<bits>". Members of one group get distinct
/// last digits after a round, so that next time they meet others (Moshpit averaging). Source:
/// spec/hivemind-averaging.md section 2.3.
struct GroupKey {
  std::string prefix;  ///< without a dot
  std::string bits;    ///< of '0' and '1', possibly empty: everyone shares one bucket

  [[nodiscard]] std::string text() const { return prefix + ".0b" + bits; }

  friend bool operator==(GroupKey const&, GroupKey const&) = default;
};

/// Errors: malformed (not "<prefix>.0b<bits>").
[[nodiscard]] Result<GroupKey> parse_group_key(std::string_view text);

/// The number of keys that a group's members spread over: the target, or the next power of two.
/// `group_size` ≥ 1.
[[nodiscard]] std::size_t bucket_count(std::size_t group_size,
                                       std::optional<std::size_t> target_group_size) noexcept;

/// random.Random(seed).sample(range(buckets), count) as Python 3 draws it: MT19937, init_by_array.
/// `count` ≤ `buckets`. Cost: 624 words of seeding, then O(count).
[[nodiscard]] std::vector<std::uint32_t> python_sample(ByteView seed,
                                                       std::size_t buckets,
                                                       std::size_t count);

/// The member's bits after a round. `position` < `group_size` is its place in ordered_peer_ids. A
/// group larger than its target keeps the old bits: there is nothing to spread over.
[[nodiscard]] std::string next_bits(std::string_view bits,
                                    ByteView group_id,
                                    std::size_t group_size,
                                    std::size_t position,
                                    std::optional<std::size_t> target_group_size);

}  // namespace waggle::averaging
