// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/train/config.hpp"
#include "core/train/data/image_stream.hpp"
#include "core/train/data/text.hpp"
#include "core/train/model.hpp"
#include "core/train/optimizer.hpp"
#include "core/train/optimizer_metadata.hpp"

namespace waggle::train {

struct TrainerSetup {
  Config config;
  /// Descriptors of the data files, read once and whole, from their beginning. Both may be empty:
  /// then nothing that needs samples works.
  std::vector<int> train_files;
  std::vector<int> test_files;
  std::uint64_t seed = 0;
  std::uint64_t init_seed = 0;
  bool gpu = false;  ///< works on the first GPU, which start_gpu() found to work
};

struct TrainerBuffers {
  ModelBuffers model;
  std::span<float> statistics;
};

struct TrainerStep {
  double learning_rate = 0;
  double gradient_norm = 0;
};

struct TrainerEvaluation {
  std::uint64_t samples = 0;
  double loss = 0;         ///< mean
  double accuracy = 0;     ///< share
  double gpu_seconds = 0;  ///< as LossSum
};

struct TrainerPrediction {
  std::vector<std::uint8_t> pixels;
  std::uint32_t channels = 0, height = 0, width = 0;
  std::int32_t label = -1;
  std::vector<float> probabilities;
  std::string prompt, text;
};

/// Model, data and optimizer of one task together: what the trainer process does, without the
/// process. Holds no training state of its own: all of it is in the bound buffers, the positions
/// and step counts come from outside. Thread: one at a time.
class Trainer {
 public:
  /// Errors: malformed, too_large (data files), invalid, io.
  [[nodiscard]] static Result<std::unique_ptr<Trainer>> make(TrainerSetup setup);

  [[nodiscard]] Model const& model() const noexcept { return *model_; }

  [[nodiscard]] Optimizer const& optimizer() const noexcept { return optimizer_; }

  [[nodiscard]] std::uint64_t train_samples() const noexcept;
  [[nodiscard]] std::uint32_t test_samples() const noexcept;

  /// `initialise`: writes initial weights, zero gradients and statistics. Errors: as Model::bind.
  [[nodiscard]] Status bind(TrainerBuffers buffers, bool initialise);

  /// Somebody wrote parameters or extras since the last call.
  void written() noexcept { model_->written(); }

  /// Samples position … of this peer's stream. See Model::accumulate.
  [[nodiscard]] Result<LossSum> accumulate(std::uint64_t position, std::uint32_t samples);
  /// One optimizer step with the gradients as they stand. `steps`: made before this one.
  [[nodiscard]] TrainerStep apply(std::int64_t epoch, std::uint64_t steps);
  /// The first `most` test samples, 0: all. A batch that does not fit memory is made smaller.
  [[nodiscard]] Result<TrainerEvaluation> evaluate(std::uint32_t most);
  /// The same for other parameters and extras, which the buffers then hold no trace of. Errors: as
  /// evaluate() and Model::bind, also of the buffers that are to be bound again afterwards: until
  /// they are, which each later call tries first, nothing is computed.
  [[nodiscard]] Result<TrainerEvaluation> probe(std::span<float> parameters,
                                                std::span<float> extras,
                                                std::uint32_t most);
  [[nodiscard]] std::vector<MetadataLeaf> metadata(std::int64_t epoch) const;

  /// Bytes written. Errors: io.
  [[nodiscard]] Result<std::uint64_t> export_to(
      int target, std::span<std::pair<std::string, std::string> const> metadata) const;
  /// All or nothing; zeroes the statistics. Errors: malformed, io.
  [[nodiscard]] Status import_from(int source);

  /// Test samples and what the model makes of them; text is continued by 64 bytes.
  [[nodiscard]] Result<std::vector<TrainerPrediction>> predictions(std::uint32_t first,
                                                                   std::uint32_t count);

 private:
  Trainer(TrainerSetup setup, std::unique_ptr<Model> model);
  [[nodiscard]] Status load_text(TrainerSetup const& setup);
  [[nodiscard]] Input draw(std::uint64_t position, std::uint32_t samples);
  [[nodiscard]] Input take(std::uint32_t first, std::uint32_t samples);
  [[nodiscard]] Input input_of(ImageSet const& set, std::uint32_t samples) const;
  [[nodiscard]] Result<std::string> continue_text(std::span<std::int64_t const> prompt,
                                                  std::uint64_t position);
  [[nodiscard]] std::vector<TensorSpec> file_tensors() const;
  [[nodiscard]] Status bind_again();
  [[nodiscard]] Result<TrainerEvaluation> evaluate_bound(std::uint32_t most);

  Config config_;
  std::uint64_t seed_;
  std::uint64_t init_seed_;
  std::optional<ImageStream> images_, test_images_;
  std::optional<TextStream> text_;
  std::unique_ptr<Model> model_;
  Optimizer optimizer_;
  TrainerBuffers buffers_;
  bool bound_ = false;                // the model works on buffers_, not on a probe's
  std::vector<float> pixels_;         // of the batch being worked on
  std::vector<std::int64_t> tokens_;  // its labels, or its windows
};

}  // namespace waggle::train
