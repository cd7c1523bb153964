// SPDX-License-Identifier: MIT
#include "core/optim/performance_ema.hpp"

#include <doctest/doctest.h>

using namespace waggle::optim;

TEST_CASE("PerformanceEma: no bias towards its start, and a constant rate is that rate") {
  PerformanceEma ema;
  CHECK(ema.samples_per_second() == 1e-20);
  for (int i = 0; i < 50; ++i) {
    ema.update(32, 0.5);
    CHECK(ema.samples_per_second() == doctest::Approx(64));
  }
}

TEST_CASE("PerformanceEma: no time at all is no infinity") {
  PerformanceEma ema;
  ema.update(1, 0);
  CHECK(ema.samples_per_second() <= 1e20);
}

TEST_CASE("PerformanceEma: follows a change within its window") {
  PerformanceEma ema;
  for (int i = 0; i < 30; ++i) ema.update(10, 1);
  for (int i = 0; i < 60; ++i) ema.update(10, 0.1);
  CHECK(ema.samples_per_second() == doctest::Approx(100).epsilon(0.05));
}
