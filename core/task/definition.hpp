// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::task {

/// A task as its operator wrote it (task.toml). Every field has its documentation in the table of
/// detail/fields.cpp, which `waggle publish --help-fields` prints; unknown fields and bad values
/// are refused with file, line, column and what was expected. DESIGN.md section 7.
struct Definition {
  // [task]
  std::string prefix;
  std::string title;
  std::string description;

  // [model]
  struct Model {
    std::string family;  ///< resnet | gpt here; the other names of DESIGN.md are refused with a
                         ///< plain sentence
    // resnet
    std::int64_t depth = 18;  ///< 8, 10, 18, 34, 50
    std::int64_t width = 64;
    std::string stem = "imagenet";
    std::int64_t in_channels = 1;
    std::int64_t classes = 10;
    // gpt
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t embedding = 256;
    std::int64_t context = 128;
    std::int64_t vocabulary = 256;
    double dropout = 0.0;
    friend bool operator==(Model const&, Model const&) = default;
  } model;

  // [data]
  struct Data {
    std::string format;  ///< idx-images | text
    std::vector<std::string>
        train;  ///< file names; beside task.toml when publishing, blob names afterwards
    std::vector<std::string> test;
    std::string licence;
    std::vector<std::string> labels;  ///< the classes' names, in order; empty: numbers only
    std::vector<double> mean;         ///< one a channel, of pixels scaled to [0, 1]
    std::vector<double> std;
    std::int64_t crop_padding = 0;
    bool flip = false;
    std::int64_t preview = 0;    ///< samples that a volunteer sees before joining; 0: none
    double test_fraction = 0.1;  ///< text without test files: the last part is held out
    friend bool operator==(Data const&, Data const&) = default;
  } data;

  // [train]
  struct Train {
    std::string optimizer = "sgd";  ///< sgd | adamw
    double learning_rate = 0.1;
    double momentum = 0.9;
    bool nesterov = false;
    double weight_decay = 0.0;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    std::string schedule = "constant";  ///< constant | cosine | linear | step, by global epoch
    std::int64_t warmup_epochs = 0;
    std::int64_t total_epochs = 0;  ///< 0: no end (cosine and linear need one)
    std::int64_t step_every = 0;
    double step_factor = 0.1;
    double label_smoothing = 0.0;
    double clip_norm = 0.0;         ///< 0: none
    std::int64_t micro_batch = 32;  ///< the most; memory may make it smaller
    bool allow_bf16 = false;
    friend bool operator==(Train const&, Train const&) = default;
  } train;

  // [swarm]
  struct Swarm {
    std::int64_t target_batch_size = 512;
    std::string method = "sync";
    std::int64_t average_state_every = 1;
    std::string compression = "size_adaptive";
    std::string state_compression = "float16";
    double matchmaking_time = 15;
    double averaging_timeout = 60;
    bool delayed = false;
    friend bool operator==(Swarm const&, Swarm const&) = default;
  } swarm;

  // [needs]
  struct Needs {
    std::int64_t memory_mib = 0;
    friend bool operator==(Needs const&, Needs const&) = default;
  } needs;

  /// More would not fit into a record beside its blobs.
  static constexpr std::size_t kMaxBytes = 64u << 10;

  /// Parses and checks everything. `file` names the text in errors: "task.toml:12:3:
  /// train.momentum: expected …, found …". Errors: invalid, too_large (kMaxBytes).
  [[nodiscard]] static Result<Definition> parse(std::string_view toml, std::string_view file);
  /// A text that parses back equal.
  [[nodiscard]] std::string to_toml() const;
  /// The sections model, data and train as one JSON object, for the trainer: task.toml's names,
  /// every field present.
  [[nodiscard]] std::string trainer_json() const;
  /// Every field with its range, default and a sentence, for `waggle publish --help-fields`.
  [[nodiscard]] static std::string field_help();

  friend bool operator==(Definition const&, Definition const&) = default;
};

/// Whether `prefix` is [a-z0-9][a-z0-9_-]{0,63}.
[[nodiscard]] bool valid_prefix(std::string_view prefix) noexcept;

}  // namespace waggle::task
