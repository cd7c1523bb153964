// SPDX-License-Identifier: MIT
#include "core/averaging/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

std::vector<std::uint64_t> hagenbach_bischoff(std::uint64_t vector_size,
                                              std::span<double const> scores) {
  auto const sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  WAGGLE_ASSERT(sum > 0);
  std::vector<std::uint64_t> shares;
  std::uint64_t given = 0;
  for (auto const score : scores) {
    auto const share = static_cast<std::uint64_t>(static_cast<double>(vector_size) * score / sum);
    shares.push_back(std::min(share, vector_size - given));
    given += shares.back();
  }
  for (; given < vector_size; ++given) {
    std::size_t best = 0;
    double highest = -1;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      auto const quotient = scores[i] / static_cast<double>(shares[i] + 1);
      if (quotient > highest) {
        highest = quotient;
        best = i;
      }
    }
    ++shares[best];
  }
  return shares;
}

Result<std::vector<std::uint64_t>> load_balance(std::uint64_t vector_size,
                                                std::span<std::optional<double> const> bandwidths,
                                                std::uint64_t min_size) {
  double known = 0;
  std::size_t count = 0;
  for (auto const& b : bandwidths) {
    if (b && *b > 0) {
      known += *b;
      ++count;
    }
  }
  std::vector<double> scores;
  if (count == 0) {
    for (auto const& b : bandwidths) scores.push_back(b ? 0.0 : 1.0);
    if (std::all_of(scores.begin(), scores.end(), [](double s) { return s == 0; }))
      return Error{Errc::refused,
                   cat("none of the group's ", scores.size(), " members can reduce")};
  } else {
    std::vector<double> resolved;
    for (auto const& b : bandwidths)
      resolved.push_back(b.value_or(known / static_cast<double>(count)));
    scores = optimal_scores(vector_size, resolved, min_size);
  }
  return hagenbach_bischoff(vector_size, scores);
}

}  // namespace waggle::averaging
