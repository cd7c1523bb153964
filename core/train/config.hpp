// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::train {

/// The model section of task.toml.
struct ModelConfig {
  std::string family = "resnet";  ///< resnet | gpt
  std::int64_t depth = 18;        ///< resnet: 8, 10, 18, 34, 50
  std::int64_t width = 64;        ///< resnet: channels of the first stage
  std::string stem = "imagenet";  ///< resnet: cifar (3x3), cifar-s2 (3x3 stride 2), imagenet
  std::int64_t in_channels = 1;
  std::int64_t classes = 10;
  std::int64_t layers = 4;  ///< gpt from here on
  std::int64_t heads = 4;
  std::int64_t embedding = 256;
  std::int64_t context = 128;
  std::int64_t vocabulary = 256;
  double dropout = 0.0;
};

/// The data section. The names of the files are the node's business: the trainer gets descriptors.
struct DataConfig {
  std::string format = "idx-images";  ///< idx-images | text
  std::vector<double> mean;           ///< one a channel, of pixels scaled to [0, 1]; empty: 0
  std::vector<double> std;            ///< one a channel; empty: 1
  std::int64_t crop_padding = 0;      ///< random crop out of an image padded by so many zeros
  bool flip = false;                  ///< random horizontal flip
  double test_fraction = 0.1;         ///< text without test files: the last part is held out
};

/// The train section.
struct TrainConfig {
  std::string optimizer = "sgd";  ///< sgd | adamw
  double learning_rate = 0.1;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::string schedule = "constant";  ///< constant | cosine | linear | step
  std::int64_t warmup_epochs = 0;
  std::int64_t total_epochs = 0;
  std::int64_t step_every = 0;
  double step_factor = 0.1;
  double label_smoothing = 0.0;
  double clip_norm = 0.0;
  std::int64_t micro_batch = 32;
  bool allow_bf16 = false;
};

struct Config {
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
};

/// Reads {"model":{…},"data":{…},"train":{…}} with the names of task.toml. What is absent keeps its
/// default; an unknown name, a wrong type or a value out of range is refused with its place and
/// what was expected. Errors: malformed (no JSON), invalid, too_large (above 64 KiB).
[[nodiscard]] Result<Config> parse_config(std::string_view json);

}  // namespace waggle::train
