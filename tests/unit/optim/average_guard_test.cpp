// SPDX-License-Identifier: MIT
#include "core/optim/average_guard.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "core/compress/codec.hpp"

using namespace waggle;
using namespace waggle::optim;

namespace {

constexpr std::size_t kMembers = 5;
constexpr std::size_t kTensors = 10;
constexpr std::size_t kNumel = 5000;
constexpr std::size_t kAll = kTensors * kNumel;

PeerId peer(std::size_t n) {
  std::string const text = "peer" + std::to_string(n);
  return *PeerId::from_bytes(as_bytes(text));
}

/// A round of kMembers; each averages two tensors. We are member 0.
struct Round {
  averaging::RoundReport report;
  std::vector<std::vector<float>> brought;
  std::vector<double> weights;
  std::vector<float> values;  ///< what comes back to us

  explicit Round(std::vector<double> w) : weights(std::move(w)) {
    for (std::size_t p = 0; p < kMembers; ++p) report.group.push_back(peer(p));
    report.weights = weights;
    for (std::size_t p = 0; p < kMembers; ++p)
      report.spans.push_back({p * kAll / kMembers, kAll / kMembers, p});
  }

  // As the all-reduce does it: parts travel encoded, so do the differences.
  void average(compress::CompressionType codec) {
    values = brought[0];
    double total = 0;
    for (double const w : weights) total += w;
    for (std::size_t t = 0; t < kTensors; ++t) {
      std::vector<float> mean(kNumel);
      std::vector<float> ours(kNumel);
      for (std::size_t p = 0; p < kMembers; ++p) {
        std::span<float const> const part = std::span(brought[p]).subspan(t * kNumel, kNumel);
        Bytes bytes;
        REQUIRE(compress::encode(codec, part, bytes));
        std::vector<float> decoded(kNumel);
        REQUIRE(compress::decode(codec, bytes, decoded));
        if (p == 0) ours = decoded;
        for (std::size_t i = 0; i < kNumel; ++i)
          mean[i] += static_cast<float>(weights[p] / total) * decoded[i];
      }
      for (std::size_t i = 0; i < kNumel; ++i) mean[i] -= ours[i];
      Bytes bytes;
      REQUIRE(compress::encode(codec, mean, bytes));
      REQUIRE(compress::decode(codec, bytes, mean));
      for (std::size_t i = 0; i < kNumel; ++i) values[t * kNumel + i] += mean[i];
    }
  }

  [[nodiscard]] std::span<float> of(std::size_t reducer) {
    return std::span(values).subspan(reducer * kAll / kMembers, kAll / kMembers);
  }
};

/// Gradients of layers of very different sizes: a direction that all share, and noise of each batch
/// with heavy tails.
Round gradients(std::uint64_t seed, double signal, std::vector<double> weights) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> direction(kAll);
  for (auto& d : direction) d = normal(random);
  Round round(std::move(weights));
  for (std::size_t p = 0; p < kMembers; ++p) {
    auto& values = round.brought.emplace_back(kAll);
    for (std::size_t i = 0; i < kAll; ++i) {
      double const layer = std::pow(10.0, -static_cast<double>(i / kNumel % 5));
      double const n = normal(random);
      double const noise = n * n * n / std::sqrt(std::max(1.0, round.weights[p]));
      values[i] = static_cast<float>(layer * (signal * direction[i] + noise));
    }
  }
  return round;
}

std::vector<std::size_t> tensors() {
  return std::vector<std::size_t>(kTensors, kNumel);
}

}  // namespace

TEST_CASE("AverageGuard: honest rounds are never refused, whatever the codec, signal and weights") {
  std::vector<std::vector<double>> const weights = {
      {100, 100, 100, 100, 100}, {8, 400, 50, 60, 1}, {400, 1, 1, 1, 1}, {1, 500, 0, 0, 0}};
  std::size_t rounds = 0;
  for (auto const codec : {compress::CompressionType::none,
                           compress::CompressionType::float16,
                           compress::CompressionType::uniform_8bit}) {
    for (double const signal : {0.0, 0.05, 3.0}) {
      for (auto const& w : weights) {
        AverageGuard guard(tensors());
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          auto round = gradients(seed, signal, w);
          round.average(codec);
          auto const before = round.values;
          auto const refused =
              guard.check_gradients(round.report, peer(0), w[0], round.brought[0], round.values);
          for (auto const& r : refused) CAPTURE(r.why);
          CHECK(refused.empty());
          CHECK(round.values == before);
          ++rounds;
        }
      }
    }
  }
  CHECK(rounds == 108);
}

TEST_CASE("AverageGuard: peers with unlike data disagree, and are not taken for liars") {
  // At a minimum of the sum each pulls its own way: what the others bring points against ours.
  AverageGuard guard(tensors());
  auto round = gradients(5, 0.1, {100, 100, 100, 100, 100});
  for (std::size_t i = 0; i < kAll; ++i) {
    float sum = 0;
    for (std::size_t p = 1; p < kMembers; ++p) sum += round.brought[p][i];
    round.brought[0][i] = -0.9F * sum;
  }
  round.average(compress::CompressionType::float16);
  CHECK(guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values).empty());
}

namespace {

struct Lie {
  char const* what;
  std::function<float(float mean, float ours)> lie;
  bool at_once;  ///< found in the first round, not only when it does not end
};

std::vector<Lie> const lies = {
    {"loud", [](float m, float) { return 1e5F * m; }, true},
    {"a constant", [](float, float) { return 1e5F; }, true},
    {"infinite in effect", [](float, float) { return 3e38F; }, true},
    {"turned round", [](float m, float) { return -m; }, false},
    {"turned round, three times", [](float m, float) { return -3 * m; }, false},
    {"zeros", [](float, float) { return 0.0F; }, false},
    {"ours turned round", [](float, float a) { return -a; }, false},
};

}  // namespace

TEST_CASE("AverageGuard: a lying reducer's elements stay ours, the others' are averaged") {
  for (auto const& [what, lie, at_once] : lies) {
    for (double const signal : {0.3, 3.0}) {
      CAPTURE(what);
      CAPTURE(signal);
      AverageGuard guard(tensors());
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        auto round = gradients(seed, signal, {100, 100, 100, 100, 100});
        round.average(compress::CompressionType::float16);
        auto const honest = round.values;
        for (std::size_t i = 0; i < kAll / kMembers; ++i) {
          auto const at = 2 * kAll / kMembers + i;
          round.values[at] = lie(round.values[at], round.brought[0][at]);
        }
        auto const refused =
            guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values);
        if (!at_once && seed < 6) {
          CHECK(refused.empty());
          continue;
        }
        REQUIRE(refused.size() == 1);
        CHECK(refused[0].peer == peer(2));
        CHECK(refused[0].alone);
        CHECK(guard.distrusted().at(peer(2)) == refused[0].why);
        for (std::size_t i = 0; i < kAll; ++i) {
          bool const theirs = i / (kAll / kMembers) == 2;
          REQUIRE(round.values[i] == (theirs ? round.brought[0][i] : honest[i]));
        }
      }
    }
  }
}

TEST_CASE("AverageGuard: a reducer may be against us in every third round") {
  AverageGuard guard(tensors());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    auto round = gradients(seed, 0.3, {100, 100, 100, 100, 100});
    round.average(compress::CompressionType::none);
    if (seed % 3 == 0)
      for (auto& v : round.of(2)) v = -v;
    CHECK(
        guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values).empty());
  }
}

TEST_CASE("AverageGuard: a batch that is loud for all to see is averaged, and nobody's lie") {
  AverageGuard guard(tensors());
  auto quiet = gradients(1, 0.3, {100, 100, 100, 100, 100});
  quiet.average(compress::CompressionType::none);
  REQUIRE(
      guard.check_gradients(quiet.report, peer(0), 100, quiet.brought[0], quiet.values).empty());
  // One hard batch in a swarm that has converged.
  auto round = gradients(2, 0.3, {100, 100, 100, 100, 100});
  for (auto& v : round.brought[3]) v *= 1500;
  round.average(compress::CompressionType::none);
  auto const averaged = round.values;
  CHECK(guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values).empty());
  CHECK(round.values == averaged);
  // Beyond all measure it is refused, everywhere, but says nothing about who averaged it.
  round = gradients(3, 0.3, {100, 100, 100, 100, 100});
  for (auto& v : round.brought[3]) v *= 1e9F;
  round.average(compress::CompressionType::none);
  auto const refused =
      guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values);
  CHECK(refused.size() == kMembers);
  CHECK(std::none_of(refused.begin(), refused.end(), [](auto const& r) { return r.alone; }));
  CHECK(round.values == round.brought[0]);
  CHECK(guard.distrusted().empty());
}

TEST_CASE("AverageGuard: who brings nothing knows recent rounds") {
  AverageGuard guard(tensors());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto round = gradients(seed, 0.3, {100, 100, 100, 100, 100});
    round.average(compress::CompressionType::none);
    CHECK(
        guard.check_gradients(round.report, peer(0), 100, round.brought[0], round.values).empty());
  }
  auto round = gradients(4, 0.3, {0, 100, 100, 100, 100});
  std::fill(round.brought[0].begin(), round.brought[0].end(), 0.0F);
  round.average(compress::CompressionType::none);
  CHECK(guard.check_gradients(round.report, peer(0), 0, round.brought[0], round.values).empty());
  for (auto& v : round.of(3)) v = 5000;
  CHECK(guard.check_gradients(round.report, peer(0), 0, round.brought[0], round.values).size() ==
        1);
}

namespace {

/// States of members after a step: `apart` steps between them.
Round states(std::uint64_t seed, double apart, std::vector<float>& before) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  before.resize(kAll / 2);  // the first half are parameters
  std::vector<float> step(kAll);
  std::vector<float> base(kAll);
  for (std::size_t i = 0; i < kAll; ++i) {
    base[i] = normal(random);
    step[i] = 1e-3F * normal(random);
  }
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = base[i];
  Round round({1, 1, 1, 1, 1});
  for (std::size_t p = 0; p < kMembers; ++p) {
    auto& values = round.brought.emplace_back(kAll);
    for (std::size_t i = 0; i < kAll; ++i)
      values[i] = base[i] + step[i] + static_cast<float>(apart) * 1e-3F * normal(random);
  }
  return round;
}

}  // namespace

TEST_CASE("AverageGuard: honest averages of state are taken, near and far") {
  for (auto const& [codec, error] : std::vector<std::pair<compress::CompressionType, double>>{
           {compress::CompressionType::none, 1e-5},
           {compress::CompressionType::float16, 2e-3},
           {compress::CompressionType::uniform_8bit, 5e-2}}) {
    for (double const apart : {0.0, 0.1, 3.0, 300.0}) {
      CAPTURE(apart);
      std::vector<float> before;
      auto round = states(3, apart, before);
      round.average(codec);
      auto const expected = round.values;
      AverageGuard const guard(tensors());
      auto const verdict =
          guard.check_state(round.report, peer(0), before, error, round.brought[0], round.values);
      for (auto const& r : verdict.refused) CAPTURE(r.why);
      CHECK(verdict.refused.empty());
      CHECK(round.values == expected);
      if (codec == compress::CompressionType::none)
        CHECK(verdict.steps ==
              doctest::Approx(0.9 * apart / std::sqrt(1 + apart * apart)).epsilon(0.2));
    }
  }
}

TEST_CASE("AverageGuard: a reducer that moves the state is found, in parameters and statistics") {
  for (std::size_t const liar : {1u, 4u}) {  // averages parameters; statistics
    for (float const by : {0.1F, 1e6F, std::numeric_limits<float>::quiet_NaN()}) {
      CAPTURE(liar);
      CAPTURE(by);
      std::vector<float> before;
      auto round = states(3, 0.1, before);
      round.average(compress::CompressionType::float16);
      for (auto& v : round.of(liar)) v = liar == 1 ? v + by : -v * (1 + by);
      AverageGuard const guard(tensors());
      auto const verdict =
          guard.check_state(round.report, peer(0), before, 2e-3, round.brought[0], round.values);
      REQUIRE(verdict.refused.size() == 1);
      CHECK(verdict.refused[0].peer == peer(liar));
      CHECK(verdict.steps < 1);
      for (std::size_t i = 0; i < kAll / kMembers; ++i)
        REQUIRE(round.of(liar)[i] == round.brought[0][liar * kAll / kMembers + i]);
    }
  }
}

TEST_CASE("AverageGuard: a sender's lie moves everything, and the distance is told") {
  std::vector<float> before;
  auto round = states(3, 0.1, before);
  for (auto& v : round.brought[4]) v = -v;
  round.average(compress::CompressionType::float16);
  AverageGuard const guard(tensors());
  auto const verdict =
      guard.check_state(round.report, peer(0), before, 2e-3, round.brought[0], round.values);
  CHECK(verdict.refused.empty());
  CHECK(verdict.steps > 100);
}
