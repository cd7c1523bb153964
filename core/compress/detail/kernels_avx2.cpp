// SPDX-License-Identifier: MIT
// AVX2, FMA and F16C. This file alone is compiled for them; it is called only where the processor
// has them.
#include <algorithm>
#include <cstring>

#include <immintrin.h>

#include "core/compress/detail/kernels.hpp"

namespace waggle::compress::detail {
namespace {

constexpr std::size_t kLanes = 8;

// All bits set in the lanes whose exponent is all ones.
__m256i not_finite(__m256 x) noexcept {
  __m256i const exponent = _mm256_set1_epi32(0x7f80'0000);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x), exponent), exponent);
}

bool any(__m256i lanes) noexcept {
  return _mm256_testz_si256(lanes, lanes) == 0;
}

bool all_finite(float const* in, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    if (any(not_finite(_mm256_loadu_ps(in + i)))) return false;
  return scalar_kernels().all_finite(in + i, n - i);
}

bool raw_finite(std::byte const* in, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    if (any(not_finite(_mm256_loadu_ps(reinterpret_cast<float const*>(in + 4 * i))))) return false;
  return scalar_kernels().raw_finite(in + 4 * i, n - i);
}

float sum_of(__m256 v) noexcept {
  __m128 const four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  __m128 const two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

Moments moments(float const* in, std::size_t n, float shift) noexcept {
  constexpr std::size_t kBlock = 4096;
  Moments m;
  __m256 const shifts = _mm256_set1_ps(shift);
  std::size_t i = 0;
  while (i + kLanes <= n) {
    std::size_t const end = std::min(n, i + kBlock);
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    __m256 squares[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (std::size_t u = 0; i + kLanes <= end; i += kLanes, u ^= 1) {
      __m256 const d = _mm256_sub_ps(_mm256_loadu_ps(in + i), shifts);
      sum[u] = _mm256_add_ps(sum[u], d);
      squares[u] = _mm256_fmadd_ps(d, d, squares[u]);
    }
    m.sum += static_cast<double>(sum_of(_mm256_add_ps(sum[0], sum[1])));
    m.sum_of_squares += static_cast<double>(sum_of(_mm256_add_ps(squares[0], squares[1])));
  }
  Moments const rest = scalar_kernels().moments(in + i, n - i, shift);
  return {m.sum + rest.sum, m.sum_of_squares + rest.sum_of_squares};
}

void quantize(float const* in,
              std::size_t n,
              float mean,
              float inverse_scale,
              std::uint8_t* index,
              Buckets& buckets) noexcept {
  // As in the AVX-512 kernel: sum and count side by side, several tables in turn.
  constexpr std::size_t kTables = 4;
  constexpr std::size_t kFlushEvery = 1U << 16;
  alignas(64) float cell[kTables][256][2] = {};
  __m256 const means = _mm256_set1_ps(mean);
  __m256 const scales = _mm256_set1_ps(inverse_scale);
  __m256 const low = _mm256_set1_ps(-128.0F);
  __m256 const high = _mm256_set1_ps(127.0F);
  __m256i const bias = _mm256_set1_epi32(128);
  __m256i const low_bytes = _mm256_setr_epi8(0,
                                             4,
                                             8,
                                             12,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,  //
                                             0,
                                             4,
                                             8,
                                             12,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1,
                                             -1);
  std::size_t i = 0;
  while (i + kLanes <= n) {
    std::size_t const end = std::min(n, i + kFlushEvery);
    for (; i + kLanes <= end; i += kLanes) {
      __m256 const x = _mm256_loadu_ps(in + i);
      __m256 const step =
          _mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(_mm256_sub_ps(x, means), scales), low), high);
      __m256i const k =
          _mm256_shuffle_epi8(_mm256_add_epi32(_mm256_cvtps_epi32(step), bias), low_bytes);
      int const front = _mm256_extract_epi32(k, 0);
      int const back = _mm256_extract_epi32(k, 4);
      std::memcpy(index + i, &front, 4);
      std::memcpy(index + i + 4, &back, 4);
      for (std::size_t j = 0; j < kLanes; ++j) {
        auto* const at = reinterpret_cast<__m128i*>(cell[j % kTables][index[i + j]]);
        __m128 const one_more = _mm_insert_ps(_mm_set_ss(in[i + j]), _mm_set_ss(1.0F), 0x10);
        __m128 const old = _mm_castsi128_ps(_mm_loadl_epi64(at));
        _mm_storel_epi64(at, _mm_castps_si128(_mm_add_ps(old, one_more)));
      }
    }
    for (std::size_t k = 0; k < 256; ++k)
      for (auto& table : cell) {
        buckets.sum[k] += static_cast<double>(table[k][0]);
        buckets.count[k] += static_cast<double>(table[k][1]);
      }
    std::memset(cell, 0, sizeof cell);
  }
  scalar_kernels().quantize(in + i, n - i, mean, inverse_scale, index + i, buckets);
}

__m256 look_up(std::uint8_t const* index, float const* codebook) noexcept {
  __m256i const k = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(index)));
  return _mm256_i32gather_ps(codebook, k, 4);
}

void lookup(std::uint8_t const* index, std::size_t n, float const* codebook, float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm256_storeu_ps(out + i, look_up(index + i, codebook));
  for (; i < n; ++i) out[i] = codebook[index[i]];
}

void lookup_add(std::uint8_t const* index,
                std::size_t n,
                float const* codebook,
                float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm256_storeu_ps(out + i,
                     _mm256_add_ps(_mm256_loadu_ps(out + i), look_up(index + i, codebook)));
  for (; i < n; ++i) out[i] += codebook[index[i]];
}

bool to_half(float const* in, std::size_t n, std::byte* out) noexcept {
  __m256 const high = _mm256_set1_ps(65504.0F);
  __m256 const low = _mm256_set1_ps(-65504.0F);
  __m256i bad = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    __m256 const x = _mm256_loadu_ps(in + i);
    bad = _mm256_or_si256(bad, not_finite(x));
    __m256 const clamped = _mm256_min_ps(_mm256_max_ps(x, low), high);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i),
                     _mm256_cvtps_ph(clamped, _MM_FROUND_TO_NEAREST_INT));
  }
  return scalar_kernels().to_half(in + i, n - i, out + 2 * i) && !any(bad);
}

__m256 load_halves(std::byte const* in) noexcept {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(in)));
}

void from_half(std::byte const* in, std::size_t n, float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm256_storeu_ps(out + i, load_halves(in + 2 * i));
  scalar_kernels().from_half(in + 2 * i, n - i, out + i);
}

void from_half_add(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  __m256 const weights = _mm256_set1_ps(weight);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm256_storeu_ps(out + i,
                     _mm256_fmadd_ps(weights, load_halves(in + 2 * i), _mm256_loadu_ps(out + i)));
  scalar_kernels().from_half_add(in + 2 * i, n - i, weight, out + i);
}

bool halves_finite(std::byte const* in, std::size_t n) noexcept {
  __m256i const exponent = _mm256_set1_epi16(0x7c00);
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    __m256i const h = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(in + 2 * i));
    if (any(_mm256_cmpeq_epi16(_mm256_and_si256(h, exponent), exponent))) return false;
  }
  return scalar_kernels().halves_finite(in + 2 * i, n - i);
}

void add_scaled(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  __m256 const weights = _mm256_set1_ps(weight);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    __m256 const x = _mm256_loadu_ps(reinterpret_cast<float const*>(in + 4 * i));
    _mm256_storeu_ps(out + i, _mm256_fmadd_ps(weights, x, _mm256_loadu_ps(out + i)));
  }
  scalar_kernels().add_scaled(in + 4 * i, n - i, weight, out + i);
}

}  // namespace

Kernels const& avx2_kernels() noexcept {
  static constexpr Kernels kKernels{"avx2",
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
