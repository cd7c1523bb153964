// SPDX-License-Identifier: MIT
#include "core/train/schedule.hpp"

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

TrainConfig with(char const* schedule) {
  TrainConfig c;
  c.learning_rate = 0.8;
  c.schedule = schedule;
  c.warmup_epochs = 4;
  c.total_epochs = 104;
  c.step_every = 30;
  c.step_factor = 0.1;
  return c;
}

TEST_CASE("schedule, warms up in equal steps whatever follows") {
  for (auto const* name : {"constant", "cosine", "linear", "step"})
    for (int epoch = 0; epoch < 4; ++epoch)
      CHECK(learning_rate(with(name), epoch) == doctest::Approx(0.2 * (epoch + 1)));
}

TEST_CASE("schedule, is none where the rate never changes") {
  auto constant = with("constant");
  CHECK(has_schedule(constant));
  constant.warmup_epochs = 0;
  CHECK(!has_schedule(constant));
  for (auto const* name : {"cosine", "linear", "step"}) CHECK(has_schedule(with(name)));
}

TEST_CASE("schedule, follows its curve and stays at its end") {
  CHECK(learning_rate(with("constant"), 1'000'000) == 0.8);
  CHECK(learning_rate(with("cosine"), 4) == doctest::Approx(0.8));
  CHECK(learning_rate(with("cosine"), 54) == doctest::Approx(0.4));
  CHECK(learning_rate(with("cosine"), 104) == doctest::Approx(0));
  CHECK(learning_rate(with("cosine"), 999) == doctest::Approx(0));
  CHECK(learning_rate(with("linear"), 29) == doctest::Approx(0.6));
  CHECK(learning_rate(with("linear"), 999) == 0);
  CHECK(learning_rate(with("step"), 29) == doctest::Approx(0.8));
  CHECK(learning_rate(with("step"), 30) == doctest::Approx(0.08));
  CHECK(learning_rate(with("step"), 90) == doctest::Approx(0.0008));
  CHECK(learning_rate(with("step"), -3) == doctest::Approx(0.2));
}

}  // namespace
}  // namespace waggle::train
