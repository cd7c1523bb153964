// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::averaging {

constexpr std::size_t kMaxGroupSize =
    1024;  ///< larger: a solve of seconds and thousands of streams; smaller: fewer met

/// Cuts `vector_size` elements into integer shares proportional to `scores` (≥ 0, not all zero), by
/// Hagenbach-Bischoff: floors first, then one at a time to the largest score / (share + 1), first
/// on ties.
[[nodiscard]] std::vector<std::uint64_t> hagenbach_bischoff(std::uint64_t vector_size,
                                                            std::span<double const> scores);

/// The share of the vector that each member averages. `bandwidths` in group order: any unit,
/// nothing if unknown, 0 for clients. Groups in which nobody knows share equally and never touch
/// the linear program. Errors: refused (nobody can reduce). Cost: O(n³) with bandwidths, else O(n ·
/// log n). Source: spec/hivemind-averaging.md section 3.
[[nodiscard]] Result<std::vector<std::uint64_t>> load_balance(
    std::uint64_t vector_size,
    std::span<std::optional<double> const> bandwidths,
    std::uint64_t min_size = 0);

/// The scores of section 3's linear program, by the interior-point steps that hivemind's solver
/// takes: the optimum is not unique, so the path decides. `bandwidths` ≥ 0, at least one positive.
[[nodiscard]] std::vector<double> optimal_scores(std::uint64_t vector_size,
                                                 std::span<double const> bandwidths,
                                                 std::uint64_t min_size);

}  // namespace waggle::averaging
