// SPDX-License-Identifier: MIT
#include "core/train/optimizer.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/train/random.hpp"

// That the steps equal torch's own is tested in torch_optimizer_test.cpp, where torch is.
namespace waggle::train {
namespace {

using Values = std::vector<float>;

TEST_CASE("Optimizer, names what it keeps") {
  TrainConfig c;
  CHECK(Optimizer(c, {}).statistics() == std::vector<std::string>{"momentum_buffer"});
  c.momentum = 0;
  CHECK(Optimizer(c, {}).statistics().empty());
  c.optimizer = "adamw";
  CHECK(Optimizer(c, {}).statistics() == std::vector<std::string>{"exp_avg", "exp_avg_sq"});
  CHECK(Optimizer(c, {}).step_tensors());
}

TEST_CASE("Optimizer, SGD by hand: decay, momentum, Nesterov, groups") {
  TrainConfig c;
  c.momentum = 0.5;
  Values p{1, 1}, s{0.5f, 0.5f};
  Values const g{2, 2};
  // The second value is in a group without decay.
  Optimizer(c, {{0, 1, 0.25}, {1, 2, 0}}).step(p, g, s, 0.1, 1, 0);
  CHECK(s[0] == 0.5f * 0.5f + 2 + 0.25f);
  CHECK(s[1] == 0.5f * 0.5f + 2);
  CHECK(p[0] == doctest::Approx(1 - 0.1 * 2.5));
  CHECK(p[1] == doctest::Approx(1 - 0.1 * 2.25));
  c.nesterov = true;
  Values q{1}, t{0};
  Optimizer(c, {{0, 1, 0}}).step(q, Values{2}, t, 0.1, 1, 0);
  CHECK(q[0] == doctest::Approx(1 - 0.1 * (2 + 0.5 * 2)));
}

TEST_CASE("Optimizer, a scale equals scaled gradients") {
  TrainConfig c;
  Values a{1, 2, 3}, b = a, sa(3), sb(3);
  Values const g{4, 8, -2};
  Values const half{2, 4, -1};
  Optimizer const optimizer(c, {{0, 3, 0.1}});
  optimizer.step(a, g, sa, 0.1, 0.5f, 0);
  optimizer.step(b, half, sb, 0.1, 1, 0);
  CHECK(a == b);
}

TEST_CASE("Optimizer, AdamW's first step is the learning rate in the gradient's direction") {
  TrainConfig c;
  c.optimizer = "adamw";
  Values p{1, 1}, s(4);
  Optimizer(c, {{0, 2, 0}}).step(p, Values{1e-3f, -50}, s, 0.01, 1, 0);
  CHECK(p[0] == doctest::Approx(0.99).epsilon(1e-4));
  CHECK(p[1] == doctest::Approx(1.01).epsilon(1e-4));
}

TEST_CASE("norm and all_finite, see every place") {
  Values v(1003);
  Random random(5);
  double squares = 0;
  for (auto& x : v) {
    x = static_cast<float>(random.normal());
    squares += static_cast<double>(x) * x;
  }
  CHECK(norm(v) == doctest::Approx(std::sqrt(squares)));
  CHECK(all_finite(v));
  for (std::size_t const at : {0u, 7u, 500u, 1002u})
    for (float const bad : {std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      auto w = v;
      w[at] = bad;
      CHECK(!all_finite(w));
    }
  v[3] = std::numeric_limits<float>::max();
  CHECK(all_finite(v));
  CHECK(all_finite(Values{}));
}

TEST_CASE("clip_scale, shortens what is too long and nothing else") {
  CHECK(clip_scale(10, 0) == 1);
  CHECK(clip_scale(0.5, 1) == 1);
  CHECK(clip_scale(4, 1) == doctest::Approx(0.25));
}

}  // namespace
}  // namespace waggle::train
