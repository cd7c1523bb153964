// SPDX-License-Identifier: MIT
#include "core/train/config.hpp"

#include <string>

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

std::string trouble(std::string_view json) {
  auto const config = parse_config(json);
  return config ? "" : config.error().detail;
}

TEST_CASE("config, reads the names of task.toml and keeps defaults for the rest") {
  auto const config = parse_config(R"({
    "model": {"family": "resnet", "depth": 8, "width": 32, "stem": "cifar-s2", "in_channels": 3},
    "data": {"format": "idx-images", "train": ["a", "b"], "test": [], "licence": "MIT", "mean": [0.1, 0.2, 0.3], "flip": true},
    "train": {"optimizer": "adamw", "learning_rate": 1, "warmup_epochs": 5, "schedule": "cosine", "total_epochs": 9}})");
  REQUIRE(config);
  CHECK(config->model.depth == 8);
  CHECK(config->model.width == 32);
  CHECK(config->model.classes == 10);
  CHECK(config->data.mean == std::vector<double>{0.1, 0.2, 0.3});
  CHECK(config->data.flip);
  CHECK(config->train.learning_rate == 1.0);
  CHECK(config->train.micro_batch == 32);
  auto const text = parse_config(R"({"model": {"family": "gpt"}})");
  REQUIRE(text);
  CHECK(text->data.format == "text");
}

TEST_CASE("config, says where and what it expected") {
  CHECK(trouble(R"({"model": {"depht": 8}})") == "model.depht: unknown field");
  CHECK(trouble(R"({"modle": {}})") == "unknown section modle");
  CHECK(trouble(R"({"model": {"depth": 9}})").starts_with("model.depth: is 9, expected 8, 10"));
  CHECK(trouble(R"({"model": {"depth": "8"}})").starts_with("model.depth: expected an integer"));
  CHECK(
      trouble(R"({"model": {"classes": 18446744073709551615}})").starts_with("model.classes: is "));
  CHECK(trouble(R"({"model": {"family": "vit"}})") == "model.family: expected one of resnet, gpt");
  CHECK(trouble(R"({"model": {"family": "gpt", "embedding": 10, "heads": 4}})")
            .starts_with("model.embedding"));
  CHECK(trouble(R"({"data": {"mean": [0.5, 0.5]}})").starts_with("data.mean: has 2 numbers for 1"));
  CHECK(trouble(R"({"data": {"format": "text"}})").starts_with("data.format"));
  CHECK(trouble(R"({"train": {"learning_rate": 1e9}})").starts_with("train.learning_rate"));
  CHECK(trouble(R"({"train": {"schedule": "cosine"}})").starts_with("train.total_epochs"));
  CHECK(trouble(R"({"train": {"nesterov": 1}})") == "train.nesterov: expected true or false");
  CHECK(trouble(R"({"train": []})") == "train: expected an object");
  CHECK(trouble("[]") != "");
  CHECK(trouble("{") != "");
  CHECK(trouble(std::string(70'000, ' ')) != "");
  CHECK(trouble(std::string(60'000, '[')) != "");
}

}  // namespace
}  // namespace waggle::train
