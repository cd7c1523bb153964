// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/compress/detail/kernels.hpp"

namespace waggle::compress::detail {
namespace {

constexpr float kHalfMax = 65504.0F;

float load(std::byte const* at) noexcept {
  float value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint16_t half_of(float value) noexcept {
  value = std::clamp(value, -kHalfMax, kHalfMax);
  auto const bits = std::bit_cast<std::uint32_t>(value);
  auto const sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  auto const magnitude = bits & 0x7fff'ffffU;
  if (magnitude < 0x3880'0000U) {
    // Below 2^-14 halves are subnormal: multiples of 2^-24. Adding 0.5 lines the float's last bit
    // up with 2^-24, so the processor rounds to nearest even for us.
    float const aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign |
                                      (std::bit_cast<std::uint32_t>(aligned) - 0x3f00'0000U));
  }
  std::uint32_t const odd = (magnitude >> 13) & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x3800'0000U + 0xfffU + odd) >> 13));
}

float float_of(std::uint16_t half) noexcept {
  std::uint32_t const sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  std::uint32_t const exponent = (half >> 10) & 31U;
  std::uint32_t const fraction = half & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f80'0000U | (fraction << 13));
  if (exponent == 0) {
    float const magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
}

std::uint16_t load_half(std::byte const* at) noexcept {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool all_finite(float const* in, std::size_t n) noexcept {
  return std::all_of(in, in + n, [](float x) { return std::isfinite(x); });
}

bool raw_finite(std::byte const* in, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(load(in + 4 * i))) return false;
  return true;
}

Moments moments(float const* in, std::size_t n, float shift) noexcept {
  Moments m;
  for (std::size_t i = 0; i < n; ++i) {
    double const d = static_cast<double>(in[i]) - static_cast<double>(shift);
    m.sum += d;
    m.sum_of_squares += d * d;
  }
  return m;
}

void quantize(float const* in,
              std::size_t n,
              float mean,
              float inverse_scale,
              std::uint8_t* index,
              Buckets& buckets) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    float const step = std::clamp(std::nearbyint((in[i] - mean) * inverse_scale), -128.0F, 127.0F);
    auto const k = static_cast<std::uint8_t>(static_cast<int>(step) + 128);
    index[i] = k;
    buckets.sum[k] += static_cast<double>(in[i]);
    buckets.count[k] += 1;
  }
}

void lookup(std::uint8_t const* index, std::size_t n, float const* codebook, float* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = codebook[index[i]];
}

void lookup_add(std::uint8_t const* index,
                std::size_t n,
                float const* codebook,
                float* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] += codebook[index[i]];
}

bool to_half(float const* in, std::size_t n, std::byte* out) noexcept {
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    finite = finite && std::isfinite(in[i]);
    std::uint16_t const half = half_of(in[i]);
    std::memcpy(out + 2 * i, &half, sizeof half);
  }
  return finite;
}

void from_half(std::byte const* in, std::size_t n, float* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = float_of(load_half(in + 2 * i));
}

void from_half_add(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] += weight * float_of(load_half(in + 2 * i));
}

bool halves_finite(std::byte const* in, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    if ((load_half(in + 2 * i) & 0x7c00U) == 0x7c00U) return false;
  return true;
}

void add_scaled(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] += weight * load(in + 4 * i);
}

}  // namespace

Kernels const& scalar_kernels() noexcept {
  static constexpr Kernels kKernels{"scalar",
                                    all_finite,
                                    raw_finite,
                                    moments,
                                    quantize,
                                    lookup,
                                    lookup_add,
                                    to_half,
                                    from_half,
                                    from_half_add,
                                    halves_finite,
                                    add_scaled};
  return kKernels;
}

}  // namespace waggle::compress::detail
