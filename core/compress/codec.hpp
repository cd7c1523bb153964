// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::compress {

/// Wire-stable: hivemind's CompressionType. Source: spec/hivemind-averaging.md section 1.
enum class CompressionType : std::uint8_t {
  none = 0,
  meanstd_16bit = 1,
  float16 = 2,
  quantile_8bit = 3,
  uniform_8bit = 4,
  blockwise_8bit = 5,
};

[[nodiscard]] std::string_view name(CompressionType type) noexcept;
/// Bytes a float32 value is estimated to take, over 4; partition sizes depend on it: 1, 1/2 or 1/4.
[[nodiscard]] double estimated_ratio(CompressionType type) noexcept;

/// Exact size of encode()'s output for n values; nothing for codecs not built yet.
[[nodiscard]] std::size_t encoded_size(CompressionType type, std::size_t n) noexcept;

/// Encodes `in` into `out` (resized to encoded_size). Shapes: in [n].
/// Errors: invalid (a NaN or an infinity, found while encoding; `out` is then unusable), refused
/// (codec not built). Cost: uniform_8bit two passes over `in`, float16 and none one. Thread: any;
/// pure.
[[nodiscard]] Status encode(CompressionType type, std::span<float const> in, Bytes& out);

/// out[i] = decoded value. Shapes: out [n], buffer exactly encoded_size(type, n).
/// Errors: malformed (length, codebook size), invalid (a value that is not finite). Thread: any;
/// pure.
[[nodiscard]] Status decode(CompressionType type, ByteView buffer, std::span<float> out);

/// accumulator[i] += weight * decoded value, fused: what the reducer does. On an error the
/// accumulator is untouched: values are checked before the first is added. Errors as decode.
[[nodiscard]] Status decode_accumulate(CompressionType type,
                                       ByteView buffer,
                                       float weight,
                                       std::span<float> accumulator);

/// Whether every value is finite. One pass, vectorised.
[[nodiscard]] bool all_finite(std::span<float const> values) noexcept;

/// What a tensor is to a codec policy: hivemind's TensorRole, as far as a policy here looks at it.
enum class TensorRole : std::uint8_t { unspecified, optimizer };

/// Which codec a tensor travels with, by its size: `task.toml`'s `compression`. Tensors of the role
/// optimizer always travel as float32, as with hivemind's RoleAdaptiveCompression(optimizer=
/// NoCompression(), default=…): a second moment is often below what float16 can hold, and its
/// rounding would make it negative.
class Policy {
 public:
  /// none, float16, uniform8bit, size_adaptive (float16 below 4096 values, uniform_8bit from
  /// there). Errors: invalid (an unknown name; lists the known ones).
  [[nodiscard]] static Result<Policy> parse(std::string_view name);

  explicit Policy(CompressionType always) noexcept : below_(always), from_(always) {}

  /// hivemind's SizeAdaptiveCompression(threshold, below, from).
  Policy(std::size_t threshold, CompressionType below, CompressionType from) noexcept
      : threshold_(threshold), below_(below), from_(from) {}

  /// `numel` of the whole tensor, not of a part.
  [[nodiscard]] CompressionType for_tensor(
      std::size_t numel, TensorRole role = TensorRole::unspecified) const noexcept {
    if (role == TensorRole::optimizer) return CompressionType::none;
    return numel < threshold_ ? below_ : from_;
  }

 private:
  std::size_t threshold_ = 0;
  CompressionType below_;
  CompressionType from_;
};

}  // namespace waggle::compress
