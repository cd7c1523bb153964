// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace waggle::compress::detail {

/// Sum of differences to `shift` and of their squares: mean and variance without cancellation when
/// the spread is small beside the mean. Not finite if an input is not (or if a square overflows).
struct Moments {
  double sum = 0;
  double sum_of_squares = 0;
};

/// Per bucket of the 8-bit codec: sum and number of the values that fell in.
struct Buckets {
  std::array<double, 256> sum{};
  std::array<double, 256> count{};
};

/// The inner loops of the codecs. kernels_scalar.cpp is the reference: short, and what the others
/// are tested equal to (indices and halves bit for bit, sums to rounding). Buffers need no
/// alignment.
struct Kernels {
  char const* name;

  bool (*all_finite)(float const* in, std::size_t n) noexcept;
  /// The same of little-endian float32 at any address.
  bool (*raw_finite)(std::byte const* in, std::size_t n) noexcept;
  Moments (*moments)(float const* in, std::size_t n, float shift) noexcept;
  /// index = clamp(round_half_even((in - mean) × inverse_scale) + 128, 0, 255), and the buckets'
  /// sums.
  void (*quantize)(float const* in,
                   std::size_t n,
                   float mean,
                   float inverse_scale,
                   std::uint8_t* index,
                   Buckets& buckets) noexcept;
  void (*lookup)(std::uint8_t const* index,
                 std::size_t n,
                 float const* codebook,
                 float* out) noexcept;
  /// out[i] += codebook[index[i]]; the codebook was multiplied by the weight before.
  void (*lookup_add)(std::uint8_t const* index,
                     std::size_t n,
                     float const* codebook,
                     float* out) noexcept;
  /// IEEE half, round to nearest even, clamped to ±65504. False if an input is not finite.
  bool (*to_half)(float const* in, std::size_t n, std::byte* out) noexcept;
  void (*from_half)(std::byte const* in, std::size_t n, float* out) noexcept;
  void (*from_half_add)(std::byte const* in, std::size_t n, float weight, float* out) noexcept;
  bool (*halves_finite)(std::byte const* in, std::size_t n) noexcept;
  /// out[i] += weight × in[i]; `in` is little-endian float32 at any address.
  void (*add_scaled)(std::byte const* in, std::size_t n, float weight, float* out) noexcept;
};

[[nodiscard]] Kernels const& scalar_kernels() noexcept;
#if defined(__x86_64__)
[[nodiscard]] Kernels const& avx2_kernels() noexcept;
[[nodiscard]] Kernels const& avx512_kernels() noexcept;
#endif

/// Every set that this processor can run, the reference first, the fastest last.
[[nodiscard]] std::span<Kernels const* const> usable_kernels() noexcept;
/// The fastest one, chosen once.
[[nodiscard]] Kernels const& kernels() noexcept;

}  // namespace waggle::compress::detail
