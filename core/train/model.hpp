// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/config.hpp"
#include "core/train/optimizer.hpp"
#include "core/train/safetensors.hpp"

namespace waggle::train {

/// What a net eats: images, or windows of tokens.
struct Input {
  std::int64_t count = 0;
  std::int64_t channels = 0, height = 0, width = 0;  ///< 0 for text
  std::span<float const> pixels;                     ///< [count, channels, height, width]
  /// Images: labels [count]. Text: [count, context + 1], each byte predicts the next.
  std::span<std::int64_t const> tokens;
};

struct LossSum {
  std::uint64_t samples = 0;
  double loss_sum = 0;  ///< over samples, nats; a text sample's loss is the mean over its bytes
  double correct = 0;   ///< samples; for text the share of right bytes in each, summed
  bool finite = true;
  double gpu_seconds = 0;  ///< in which a GPU was at work; 0 on the processor
};

/// Where the flat float32 buffers lie. The model neither owns nor resizes them.
struct ModelBuffers {
  std::span<float> parameters;
  std::span<float> gradients;  ///< may be empty: then only evaluate() works
  std::span<float> extras;
};

/// A net whose weights lie in the caller's buffers: forward, backward, and what is known about it.
/// No torch type is visible. Torch's exceptions end here. Thread: one at a time.
class Model {
 public:
  /// `height`, `width`: of the images (ignored for text). `gpu`: works on the first one, which must
  /// have been started. Errors: invalid.
  [[nodiscard]] static Result<std::unique_ptr<Model>> make(Config const& config,
                                                           std::int64_t height,
                                                           std::int64_t width,
                                                           bool gpu = false);
  ~Model();
  Model(Model const&) = delete;
  Model& operator=(Model const&) = delete;

  /// Registration order; gpt: those that decay first. DESIGN.md section 5.
  [[nodiscard]] std::vector<TensorSpec> const& parameters() const noexcept;
  /// Each BatchNorm's running_mean and running_var in module order.
  [[nodiscard]] std::vector<TensorSpec> const& extras() const noexcept;
  [[nodiscard]] std::size_t parameter_values() const noexcept;
  [[nodiscard]] std::size_t extra_values() const noexcept;
  /// The param_groups: runs of the flat buffer; and how many tensors each has.
  [[nodiscard]] std::vector<ParameterGroup> groups() const;
  [[nodiscard]] std::vector<std::size_t> tensors_per_group() const;
  /// Forward and backward of one sample, backward counted twice forward.
  [[nodiscard]] double training_flops() const noexcept;
  [[nodiscard]] std::string device() const;

  /// Writes initial values, a function of `seed` alone. Spans of the model's own sizes.
  void initialise(std::uint64_t seed, std::span<float> parameters, std::span<float> extras) const;

  /// From now on works on these buffers; after an error on those of before. Cheap on the processor;
  /// takes the memory of a GPU for copies. Gradients may be left out: then it only evaluates.
  /// Errors: invalid (a buffer of another size), too_large, io (the GPU is lost).
  [[nodiscard]] Status bind(ModelBuffers buffers);
  /// Somebody wrote parameters or extras: a device copy, if there is one, is stale.
  void written() noexcept;

  /// Forward and backward: adds Σ over samples of the loss's gradient to the gradients, moves the
  /// extras. Not finite: the buffers hold garbage, the caller undoes.
  /// Errors: too_large (no memory; buffers hold garbage), io (the GPU is lost to this process;
  /// buffers hold garbage), invalid.
  [[nodiscard]] Result<LossSum> accumulate(Input const& input);
  /// Forward only, in evaluation mode, without label smoothing. Errors: too_large, io, invalid.
  [[nodiscard]] Result<LossSum> evaluate(Input const& input);
  /// Class probabilities [count, classes] (images), or of the byte after each window's end
  /// [count, vocabulary] (text: all tokens are input). Errors: too_large, io, invalid.
  [[nodiscard]] Result<std::vector<float>> probabilities(Input const& input);

  /// Times `input` both ways and computes in bfloat16 from now on if that is at least a tenth
  /// faster. Uses scratch buffers. Errors: too_large.
  [[nodiscard]] Status choose_precision(Input const& input);

 private:
  struct State;
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Cores to compute with, and the allocator's cap in bytes (0: none). Before the first Model.
void configure_torch(std::uint32_t threads, std::uint64_t memory_limit);
/// Cores to compute with from here on. Costs nothing if they are as many as before. Thread: the one
/// that computes.
void use_threads(std::uint32_t threads);

}  // namespace waggle::train
