// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/averaging/schema.hpp"
#include "core/compress/codec.hpp"

namespace waggle::averaging {

/// One unit of all-reduce traffic: consecutive elements of one tensor, averaged by one peer.
struct Part {
  std::size_t offset = 0;  ///< in the flat buffer, elements
  std::size_t numel = 0;
  std::size_t tensor = 0;
  std::size_t peer = 0;                                               ///< position in the group
  compress::CompressionType codec = compress::CompressionType::none;  ///< ours, for the upload
};

/// The whole vector cut into parts, in order; and each peer's parts, in the order in which they
/// travel.
struct Partition {
  std::vector<Part> parts;
  std::vector<std::vector<std::size_t>> by_peer;  ///< indices into parts
  std::vector<std::size_t> pivots;
  std::size_t total = 0;  ///< elements
};

/// Identical on every member: fractions from the same gathered data, the same part size and
/// estimated ratios. Only whole parts are assigned, so real shares differ from the fractions; an
/// empty tensor is one empty part. `fractions` non-empty with a positive sum (if all are zero,
/// everything falls to peer 0, which a caller refuses first). Cost: O(parts + peers). Source:
/// spec/hivemind-averaging.md section 4.2.
[[nodiscard]] Partition make_partition(Schema const& schema,
                                       std::span<std::uint64_t const> fractions,
                                       std::size_t part_bytes,
                                       compress::Policy const& compression);

}  // namespace waggle::averaging
