// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"

namespace waggle::train {

/// A tensor by name and shape, as a model declares it.
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::size_t numel() const noexcept {
    std::size_t n = 1;
    for (auto const d : shape) n *= static_cast<std::size_t>(d);
    return n;
  }

  friend bool operator==(TensorSpec const&, TensorSpec const&) = default;
};

/// Where a tensor lies in a safetensors file, counted from the end of the header.
struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(StoredTensor const&, StoredTensor const&) = default;
};

struct SafetensorsHeader {
  std::uint64_t data_start = 0;       ///< 8 + length of the header
  std::vector<StoredTensor> tensors;  ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Larger: a header takes that much memory and more. Smaller: models of many tensors do not fit.
constexpr std::uint64_t kMaxSafetensorsHeader = 16u << 20;

/// Reads the header: `front` holds at least the first 8 + length bytes (all of a short file).
/// Strict, as the format's own library is: sizes fit shapes, data without holes or overlaps up to
/// `file_size`, no name twice, metadata of text only. Source: the safetensors format description.
/// Errors: malformed, too_large.
[[nodiscard]] Result<SafetensorsHeader> read_safetensors_header(ByteView front,
                                                                std::uint64_t file_size);

/// The first bytes of a file with these float32 tensors one after another: length, JSON, padded
/// with spaces so that the data begins at a multiple of 8.
[[nodiscard]] Bytes write_safetensors_header(
    std::span<TensorSpec const> tensors,
    std::span<std::pair<std::string, std::string> const> metadata);

/// Writes header and values to a descriptor at its current place. `parts` hold the tensors' values
/// in order; together exactly what the specs need. Errors: io.
[[nodiscard]] Result<std::uint64_t> write_safetensors(
    int target,
    std::span<TensorSpec const> tensors,
    std::span<std::span<float const> const> parts,
    std::span<std::pair<std::string, std::string> const> metadata);

/// Reads exactly the tensors of `tensors` (float32, these names and shapes, any order in the file;
/// `num_batches_tracked` counters of BatchNorm are skipped, anything else unknown is refused) into
/// one flat buffer in the order of `tensors`. Errors: malformed, io.
[[nodiscard]] Result<std::vector<float>> read_safetensors(int source,
                                                          std::span<TensorSpec const> tensors);

}  // namespace waggle::train
