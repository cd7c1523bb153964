// SPDX-License-Identifier: MIT
#include "core/optim/gradient_mean.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace waggle::optim;

TEST_CASE("mean_of_sum: the weighted mean of two peers' means is the mean over all samples") {
  // Peer A: 4 samples of gradient 1; peer B: 8 samples of gradient 2.
  std::vector<float> a{4.0F};
  std::vector<float> b{16.0F};
  mean_of_sum(a, 4);
  mean_of_sum(b, 8);
  double const wa = round_weight(4, 512);
  double const wb = round_weight(8, 512);
  CHECK((wa * a[0] + wb * b[0]) / (wa + wb) == doctest::Approx(20.0 / 12));
}

TEST_CASE("round_weight: never above the target, which others would refuse") {
  CHECK(round_weight(600, 512) == 512);
  CHECK(round_weight(0, 512) == 0);
}
