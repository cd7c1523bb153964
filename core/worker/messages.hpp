// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/bytes.hpp"

namespace waggle::worker {

/// The conversation over the socket pair, one packet a message (SOCK_SEQPACKET), the node asks and
/// the trainer answers, strictly in turn:
///
///     Start{config, data files}    -> Facts
///     Buffers{four memory files}   -> Done
///     Accumulate, Apply, Evaluate, Probe{memory file}, Metadata, Export{file}, Import{file},
///     Predict
///                                  -> BatchDone, Stepped, Evaluated, Blob, Done, Predicted
///
/// Any question may be answered by Failed. Descriptors ride on the packet (SCM_RIGHTS). Both ends
/// come from one build, so nothing here is wire-stable; the node still reads answers as a
/// stranger's, since the trainer parses strangers' data.

/// Larger: a packet no longer fits the kernel's default socket buffer (212,992 bytes with its own
/// bookkeeping). Smaller: a model of a thousand tensors cannot describe itself.
constexpr std::size_t kMaxMessage = 160 * 1024;
constexpr std::size_t kMaxDescriptors = 64;
constexpr std::size_t kMaxText = 96 * 1024;
constexpr std::size_t kMaxTensors = 8192;
/// The test samples that a downloaded state is judged by: at most, and fewer the dearer they are.
constexpr std::uint32_t kProbeSamples = 512;
constexpr std::uint32_t kFewestProbeSamples = 64;  // fewer: the loss says little
constexpr double kProbeFlops = 64e9;               // as training_flops: about a second of one core

struct TensorFacts {
  std::string name;
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::uint64_t numel() const noexcept {
    std::uint64_t n = 1;
    for (auto const d : shape) n *= static_cast<std::uint64_t>(d);
    return n;
  }

  friend bool operator==(TensorFacts const&, TensorFacts const&) = default;
};

/// What a model is, fixed for a task. requires_grad is false for every averaged tensor: hivemind
/// averages detached copies (spec/hivemind-averaging.md section 2.2).
struct Facts {
  std::vector<TensorFacts> parameters;  ///< the order of the flat buffers and of gradient averaging
  std::vector<TensorFacts> extras;      ///< each BatchNorm's running_mean and running_var
  std::vector<std::string>
      statistics;             ///< "momentum_buffer", or "exp_avg" and "exp_avg_sq", or none
  bool step_tensors = false;  ///< AdamW: a scalar `step` a parameter, after its statistics
  double training_flops_per_sample = 0;
  std::uint64_t train_samples = 0;
  std::uint64_t test_samples = 0;
  std::uint32_t micro_batch = 0;
  std::string device;       ///< "cpu", "cuda:0", and what it calculates in, for people
  bool can_gpu = false;     ///< built with an engine for graphics processors
  bool rocm = false;        ///< that engine is AMD's ROCm, not NVIDIA's CUDA
  std::string gpu;          ///< its place on the PCI bus, "0000:65:00.0"; empty: none, or not known
  std::string gpu_trouble;  ///< of one that can: why it works on the processor, or holds no limit
  std::string sandbox;      ///< "seccomp landlock", "seccomp", "none: <why>"

  [[nodiscard]] std::uint64_t parameter_values() const noexcept;
  [[nodiscard]] std::uint64_t extra_values() const noexcept;
  [[nodiscard]] std::uint64_t statistic_values() const noexcept;  ///< of all statistics together
  /// The same for every peer of a task, so that their probes compare.
  [[nodiscard]] std::uint32_t probe_samples() const noexcept;
  /// Parameters, each statistic for all parameters, extras. DESIGN.md section 5.
  [[nodiscard]] std::vector<TensorFacts> state_averaging() const;
  /// Parameters, extras, then a parameter's optimizer tensors in alphabetical order, parameter by
  /// parameter.
  [[nodiscard]] std::vector<TensorFacts> download() const;
  [[nodiscard]] std::uint64_t download_values() const noexcept;

  friend bool operator==(Facts const&, Facts const&) = default;
};

struct Start {
  std::string config_json;
  std::uint64_t seed = 0;
  std::uint64_t init_seed = 0;
  std::uint32_t threads = 1;
  std::uint64_t memory_limit = 0;
  std::uint64_t gpu_memory_limit = 0;
  bool gpu = true;  ///< work on a GPU, if there is one
  bool sandbox = true;
  std::uint32_t train_files = 0;  ///< of the descriptors that come along; the rest are test files
  friend bool operator==(Start const&, Start const&) = default;
};

/// Descriptors: parameters, gradients, extras, statistics.
struct Buffers {
  bool initialise = false;  ///< write the initial state into them, instead of taking what is there
  friend bool operator==(Buffers const&, Buffers const&) = default;
};

struct Accumulate {
  std::uint64_t position = 0;  ///< in the stream of samples
  std::uint32_t samples = 0;
  std::uint64_t version = 0;  ///< changes whenever somebody else wrote parameters or extras
  std::uint32_t threads = 1;  ///< to calculate with from here on
  friend bool operator==(Accumulate const&, Accumulate const&) = default;
};

struct Apply {
  std::int64_t epoch = 0;
  std::uint64_t steps = 0;  ///< optimizer steps made before this one
  friend bool operator==(Apply const&, Apply const&) = default;
};

struct Evaluate {
  std::uint64_t version = 0;
  std::uint32_t most = 0;  ///< 0: the whole test set
  friend bool operator==(Evaluate const&, Evaluate const&) = default;
};

/// Descriptor: a memory file with parameters and extras.
struct Probe {
  std::uint32_t most = kProbeSamples;
  friend bool operator==(Probe const&, Probe const&) = default;
};

struct Metadata {
  std::int64_t epoch = 0;
  friend bool operator==(Metadata const&, Metadata const&) = default;
};

/// Descriptor: the file to write.
struct Export {
  std::vector<std::pair<std::string, std::string>> metadata;
  friend bool operator==(Export const&, Export const&) = default;
};

/// Descriptor: the file to read.
struct Import {
  std::uint64_t unused = 0;
  friend bool operator==(Import const&, Import const&) = default;
};

struct Predict {
  std::uint64_t version = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(Predict const&, Predict const&) = default;
};

struct BatchDone {
  std::uint64_t samples = 0;
  double loss_sum = 0;
  bool finite = true;
  std::uint64_t nanoseconds = 0;
  std::uint64_t gpu_nanoseconds = 0;  ///< of them, those in which a GPU was at work
  friend bool operator==(BatchDone const&, BatchDone const&) = default;
};

struct Stepped {
  double learning_rate = 0;
  double gradient_norm = 0;
  friend bool operator==(Stepped const&, Stepped const&) = default;
};

struct Evaluated {
  std::uint64_t samples = 0;
  double loss = 0;
  double accuracy = 0;
  std::uint64_t gpu_nanoseconds = 0;
  friend bool operator==(Evaluated const&, Evaluated const&) = default;
};

struct Blob {
  Bytes bytes;  ///< the answer to Metadata: msgpack
  friend bool operator==(Blob const&, Blob const&) = default;
};

struct PredictedOne {
  Bytes pixels;
  std::uint32_t channels = 0, height = 0, width = 0;
  std::int32_t label = -1;
  std::vector<float> probabilities;
  std::string prompt, text;
  friend bool operator==(PredictedOne const&, PredictedOne const&) = default;
};

struct Predicted {
  std::vector<PredictedOne> items;
  friend bool operator==(Predicted const&, Predicted const&) = default;
};

struct Done {
  std::uint64_t bytes = 0;  ///< written by Export
  friend bool operator==(Done const&, Done const&) = default;
};

/// Of Failed::Kind::memory: the machine's own, or what max_memory leaves of it. Other words are a
/// GPU's.
inline constexpr std::string_view kHostMemory = "out of memory";

struct Failed {
  enum class Kind : std::uint8_t {
    memory = 1,
    invalid,
    malformed,
    io,
    gpu,  ///< it was lost: the process can use it no more
    internal
  };
  Kind kind = Kind::internal;
  std::string text;
  friend bool operator==(Failed const&, Failed const&) = default;
};

using Message = std::variant<Start,
                             Facts,
                             Buffers,
                             Accumulate,
                             BatchDone,
                             Apply,
                             Stepped,
                             Evaluate,
                             Evaluated,
                             Probe,
                             Metadata,
                             Blob,
                             Export,
                             Import,
                             Done,
                             Predict,
                             Predicted,
                             Failed>;

/// Errors: too_large (above kMaxMessage).
[[nodiscard]] Result<Bytes> encode(Message const& message);
/// Decodes exactly one message. Allocates no more than a small multiple of the packet's own size.
/// Errors: malformed, too_large.
[[nodiscard]] Result<Message> decode(ByteView packet);

}  // namespace waggle::worker
