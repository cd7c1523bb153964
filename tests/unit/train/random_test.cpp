// SPDX-License-Identifier: MIT
#include "core/train/random.hpp"

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

TEST_CASE("Random, is splitmix64 and repeats") {
  // The reference sequence of seed 0.
  Random r(0);
  CHECK(r.next() == 0xe220a8397b1dcdafu);
  CHECK(r.next() == 0x6e789e6aa1b965f4u);
  Random a(1, 2, 3), b(1, 2, 3), c(1, 2, 4), d(1, 3, 3);
  auto const first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
  CHECK(first != d.next());
}

TEST_CASE("Random, stays in range and looks normal") {
  Random r(9);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    CHECK(r.below(7) < 7);
    auto const u = r.unit();
    CHECK((u >= 0 && u < 1));
    auto const n = r.normal();
    sum += n;
    squares += n * n;
  }
  CHECK(sum / kDraws == doctest::Approx(0).epsilon(0.03));
  CHECK(squares / kDraws == doctest::Approx(1).epsilon(0.05));
}

}  // namespace
}  // namespace waggle::train
