// SPDX-License-Identifier: MIT
#include "core/averaging/load_balance.hpp"

#include <chrono>
#include <numeric>

#include <doctest/doctest.h>

using namespace waggle::averaging;

TEST_CASE("load_balance: shares always sum to the vector, and who has no bandwidth gets none") {
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<std::optional<double>> bandwidths;
    for (std::size_t i = 0; i < n; ++i)
      bandwidths.push_back(i % 5 == 4   ? std::optional(0.0)
                           : i % 3 == 2 ? std::nullopt
                                        : std::optional(1.0 + static_cast<double>(i * i)));
    auto const shares = load_balance(1'000'003, bandwidths);
    REQUIRE(shares);
    CHECK(std::accumulate(shares->begin(), shares->end(), std::uint64_t{0}) == 1'000'003);
    for (std::size_t i = 4; i < n; i += 5) CHECK((*shares)[i] == 0);
  }
}

TEST_CASE("load_balance: absurd bandwidths neither hang nor lose an element") {
  for (double const b : {1e-300, 1e300, 5e-324}) {
    std::vector<std::optional<double>> const bandwidths{b, 1.0, 1e9, std::nullopt, 0.0};
    auto const shares = load_balance(12'345, bandwidths);
    REQUIRE(shares);
    CHECK(std::accumulate(shares->begin(), shares->end(), std::uint64_t{0}) == 12'345);
  }
}
