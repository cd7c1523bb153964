// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "core/base/bytes.hpp"
#include "core/compress/detail/kernels.hpp"

/// The 8-bit codebook layout (UNIFORM_8BIT and QUANTILE_8BIT): int64 codebook length 256, 256
/// float32, one index a value. Source: spec/hivemind-averaging.md sections 1.5 and 1.6.
namespace waggle::compress::detail {

constexpr std::size_t kCodebook = 256;
constexpr std::size_t kCodebookHeader = 8 + 4 * kCodebook;

/// Splits mean ± 3 standard deviations into 256 buckets; each travels as the mean of the values
/// that fell into it, so outliers saturate and a constant comes back exactly. Two passes. Errors:
/// invalid (not finite).
[[nodiscard]] Status encode_uniform8(Kernels const& kernels,
                                     std::span<float const> in,
                                     MutableBytes out);

/// Checks length and codebook, and copies the codebook out. Errors: malformed, invalid (an entry is
/// not finite).
[[nodiscard]] Result<std::array<float, kCodebook>> read_codebook(ByteView buffer, std::size_t n);

}  // namespace waggle::compress::detail
