// SPDX-License-Identifier: MIT
#include "core/train/optimizer_metadata.hpp"

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

TEST_CASE("optimizer_metadata, has initial_lr before lr where a scheduler is attached") {
  TrainConfig c;
  c.learning_rate = 0.4;
  std::size_t const counts[] = {2};
  double const decays[] = {0.0};
  auto const plain = optimizer_metadata(c, counts, decays, 0.1, false);
  auto const scheduled = optimizer_metadata(c, counts, decays, 0.1, true);
  REQUIRE(scheduled.size() == plain.size() + 1);
  CHECK(scheduled[3] == MetadataLeaf{0.4});
  CHECK(scheduled[4] == MetadataLeaf{0.1});
  CHECK(plain[3] == MetadataLeaf{0.1});
}

TEST_CASE("optimizer_metadata, counts parameters through the groups and tensors after them") {
  TrainConfig c;
  c.optimizer = "adamw";
  std::size_t const counts[] = {1, 2};
  double const decays[] = {0.1, 0.0};
  auto const leaves = optimizer_metadata(c, counts, decays, 0.1, true);
  std::vector<std::int64_t> tensors, integers;
  for (auto const& leaf : leaves) {
    if (auto const* t = std::get_if<MetadataLeaf::Tensor>(&leaf.value)) tensors.push_back(t->index);
    if (auto const* i = std::get_if<std::int64_t>(&leaf.value)) integers.push_back(*i);
  }
  CHECK(tensors == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(integers == std::vector<std::int64_t>{0, 1, 2, 0});  // params, then a weight_decay of 0
}

}  // namespace
}  // namespace waggle::train
