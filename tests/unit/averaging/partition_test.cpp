// SPDX-License-Identifier: MIT
#include "core/averaging/partition.hpp"

#include <random>

#include <doctest/doctest.h>

#include "core/averaging/load_balance.hpp"

using namespace waggle;
using namespace waggle::averaging;

TEST_CASE("make_partition: parts cover the vector without overlap, in order, whoever shares it") {
  std::mt19937 random(1);
  auto const below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 500; ++round) {
    Schema schema;
    for (std::size_t t = 0; t <= below(12); ++t) {
      TensorSpec spec;
      for (std::size_t d = 0; d < below(3); ++d)
        spec.shape.push_back(static_cast<std::int64_t>(1 + below(300)));
      schema.push_back(spec);
    }
    auto const total = total_numel(schema);
    std::vector<double> scores;
    for (std::size_t p = 0; p <= below(9); ++p)
      scores.push_back(below(4) == 0 ? 0.0 : static_cast<double>(1 + below(50)));
    scores.push_back(1);
    auto const fractions = hagenbach_bischoff(total, scores);
    compress::Policy const policy(
        4096, compress::CompressionType::float16, compress::CompressionType::uniform_8bit);
    auto const partition = make_partition(schema, fractions, 64 + below(5000), policy);
    std::size_t at = 0;
    std::vector<std::size_t> seen(fractions.size());
    for (std::size_t i = 0; i < partition.parts.size(); ++i) {
      auto const& part = partition.parts[i];
      REQUIRE(part.offset == at);
      REQUIRE(part.numel > 0);
      REQUIRE(part.peer < fractions.size());
      CHECK(fractions[part.peer] > 0);
      CHECK(part.codec == policy.for_tensor(schema[part.tensor].numel()));
      CHECK(partition.by_peer[part.peer][seen[part.peer]++] == i);
      at += part.numel;
    }
    CHECK(at == total);
  }
}

TEST_CASE("make_partition: many small parts come close to the shares") {
  Schema const schema{{{1'000'000}, false}};
  std::vector<std::uint64_t> const fractions{500'000, 300'000, 200'000};
  auto const partition =
      make_partition(schema, fractions, 4096, compress::Policy(compress::CompressionType::none));
  std::vector<std::size_t> elements(3);
  for (auto const& part : partition.parts) elements[part.peer] += part.numel;
  for (std::size_t p = 0; p < 3; ++p)
    CHECK(std::abs(static_cast<double>(elements[p]) - static_cast<double>(fractions[p])) <= 1024);
}
