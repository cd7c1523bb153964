// SPDX-License-Identifier: MIT
// What PyTorch 1.13 puts into a state's optimizer_metadata, against what we put there.
#include <doctest/doctest.h>

#include "core/train/optimizer_metadata.hpp"

#include "tests/support/vectors.hpp"

namespace waggle::train {
namespace {

nlohmann::json to_json(MetadataLeaf const& leaf) {
  if (auto const* tensor = std::get_if<MetadataLeaf::Tensor>(&leaf.value))
    return {{"type", "tensor"}, {"index", tensor->index}};
  nlohmann::json value;
  if (auto const* b = std::get_if<bool>(&leaf.value)) value = *b;
  if (auto const* i = std::get_if<std::int64_t>(&leaf.value)) value = *i;
  if (auto const* d = std::get_if<double>(&leaf.value)) value = *d;
  return {{"type", "value"}, {"value", value}};
}

TEST_CASE("vectors: optimizer_state_dump") {
  std::size_t replayed = 0;
  for (auto const& sample : test::vectors("averaging").at("optimizer_state_dump").at("cases")) {
    auto const name = sample.at("optimizer").get<std::string>();
    TrainConfig config;
    config.momentum = 0;
    double decay = 0;
    if (name == "SGD(lr=0.1)" || name == "SGD(lr=0.1,momentum=0.9)") {
      config.learning_rate = 0.1;
      if (name.find("momentum") != name.npos) config.momentum = 0.9;
    } else if (name == "AdamW(lr=0.001)") {
      config.optimizer = "adamw";
      config.learning_rate = 0.001;
      decay = 0.01;
    } else {
      continue;  // Adam without W is no optimizer of ours
    }
    INFO(name);
    std::size_t const counts[] = {sample.at("params_after_init").size()};
    double const decays[] = {decay};
    auto ours = nlohmann::json::array();
    // The sample was made without a scheduler.
    for (auto const& leaf : optimizer_metadata(config, counts, decays, config.learning_rate, false))
      ours.push_back(to_json(leaf));
    auto const& theirs = sample.at("flat_metadata");
    CHECK(ours == theirs);
    // Equal JSON numbers may be integer on one side and float on the other; on the wire they
    // differ.
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      if (theirs[i].contains("value"))
        CHECK(ours[i]["value"].is_number_float() == theirs[i]["value"].is_number_float());
    ++replayed;
  }
  CHECK(replayed == 3);
  test::announce("averaging/optimizer_state_dump", replayed);
}

}  // namespace
}  // namespace waggle::train
