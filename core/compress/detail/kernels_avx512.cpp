// SPDX-License-Identifier: MIT
// AVX-512 F/BW/DQ/VL. This file alone is compiled for it; it is called only where the processor has
// it.
#include <algorithm>
#include <cstring>

#include <immintrin.h>

#include "core/compress/detail/kernels.hpp"

namespace waggle::compress::detail {
namespace {

constexpr std::size_t kLanes = 16;

__mmask16 tail_mask(std::size_t left) noexcept {
  return static_cast<__mmask16>((1U << left) - 1U);
}

// A float is finite unless all exponent bits are set.
__mmask16 not_finite(__m512 x) noexcept {
  __m512i const exponent = _mm512_set1_epi32(0x7f80'0000);
  return _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_castps_si512(x), exponent), exponent);
}

bool all_finite(float const* in, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    if (not_finite(_mm512_loadu_ps(in + i)) != 0) return false;
  return i == n || not_finite(_mm512_maskz_loadu_ps(tail_mask(n - i), in + i)) == 0;
}

bool raw_finite(std::byte const* in, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    if (not_finite(_mm512_loadu_ps(in + 4 * i)) != 0) return false;
  return scalar_kernels().raw_finite(in + 4 * i, n - i);
}

Moments moments(float const* in, std::size_t n, float shift) noexcept {
  // Blocks short enough that float lanes lose nothing that matters, summed in double.
  constexpr std::size_t kBlock = 4096;
  Moments m;
  __m512 const shifts = _mm512_set1_ps(shift);
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    std::size_t const end = std::min(n, begin + kBlock);
    __m512 sum[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    __m512 squares[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    std::size_t i = begin;
    for (; i + 2 * kLanes <= end; i += 2 * kLanes)
      for (std::size_t u = 0; u < 2; ++u) {
        __m512 const d = _mm512_sub_ps(_mm512_loadu_ps(in + i + u * kLanes), shifts);
        sum[u] = _mm512_add_ps(sum[u], d);
        squares[u] = _mm512_fmadd_ps(d, d, squares[u]);
      }
    for (; i < end; i += kLanes) {
      __mmask16 const mask =
          end - i >= kLanes ? static_cast<__mmask16>(0xffff) : tail_mask(end - i);
      __m512 const d = _mm512_maskz_sub_ps(mask, _mm512_maskz_loadu_ps(mask, in + i), shifts);
      sum[0] = _mm512_add_ps(sum[0], d);
      squares[0] = _mm512_fmadd_ps(d, d, squares[0]);
    }
    m.sum += static_cast<double>(_mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1])));
    m.sum_of_squares +=
        static_cast<double>(_mm512_reduce_add_ps(_mm512_add_ps(squares[0], squares[1])));
  }
  return m;
}

// Sum and count of a bucket side by side: one 8-byte load, add and store a value. Four tables in
// turn, since neighbouring values often fall into one bucket and would wait for each other's store.
struct Tally {
  static constexpr std::size_t kTables = 4;
  static constexpr std::size_t kFlushEvery = 1U
                                             << 16;  // counts and sums stay exact enough in float
  alignas(64) float cell[kTables][256][2];

  void clear() noexcept { std::memset(cell, 0, sizeof cell); }

  void add(std::size_t table, std::uint8_t k, __m128 value_and_one) noexcept {
    __m128 const old =
        _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(cell[table][k])));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(cell[table][k]),
                     _mm_castps_si128(_mm_add_ps(old, value_and_one)));
  }

  void flush(Buckets& buckets) noexcept {
    for (std::size_t k = 0; k < 256; ++k)
      for (std::size_t t = 0; t < kTables; ++t) {
        buckets.sum[k] += static_cast<double>(cell[t][k][0]);
        buckets.count[k] += static_cast<double>(cell[t][k][1]);
      }
    clear();
  }
};

void quantize(float const* in,
              std::size_t n,
              float mean,
              float inverse_scale,
              std::uint8_t* index,
              Buckets& buckets) noexcept {
  Tally tally;
  tally.clear();
  __m512 const means = _mm512_set1_ps(mean);
  __m512 const scales = _mm512_set1_ps(inverse_scale);
  __m512 const low = _mm512_set1_ps(-128.0F);
  __m512 const high = _mm512_set1_ps(127.0F);
  __m512i const bias = _mm512_set1_epi32(128);
  std::size_t since_flush = 0;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    __m512 const x = _mm512_loadu_ps(in + i);
    __m512 const step =
        _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(_mm512_sub_ps(x, means), scales), low), high);
    // cvtps rounds half to even under the default rounding mode.
    __m512i const k = _mm512_add_epi32(_mm512_cvtps_epi32(step), bias);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(index + i), _mm512_cvtepi32_epi8(k));
    for (std::size_t j = 0; j < kLanes; ++j)
      tally.add(j % Tally::kTables,
                index[i + j],
                _mm_insert_ps(_mm_set_ss(in[i + j]), _mm_set_ss(1.0F), 0x10));
    since_flush += kLanes;
    if (since_flush >= Tally::kFlushEvery) {
      tally.flush(buckets);
      since_flush = 0;
    }
  }
  tally.flush(buckets);
  if (i < n) scalar_kernels().quantize(in + i, n - i, mean, inverse_scale, index + i, buckets);
}

__m512 look_up(std::uint8_t const* index, float const* codebook) noexcept {
  __m512i const k = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(index)));
  return _mm512_i32gather_ps(k, codebook, 4);
}

void lookup(std::uint8_t const* index, std::size_t n, float const* codebook, float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm512_storeu_ps(out + i, look_up(index + i, codebook));
  for (; i < n; ++i) out[i] = codebook[index[i]];
}

void lookup_add(std::uint8_t const* index,
                std::size_t n,
                float const* codebook,
                float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm512_storeu_ps(out + i,
                     _mm512_add_ps(_mm512_loadu_ps(out + i), look_up(index + i, codebook)));
  for (; i < n; ++i) out[i] += codebook[index[i]];
}

bool to_half(float const* in, std::size_t n, std::byte* out) noexcept {
  __m512 const high = _mm512_set1_ps(65504.0F);
  __m512 const low = _mm512_set1_ps(-65504.0F);
  __mmask16 bad = 0;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    __m512 const x = _mm512_loadu_ps(in + i);
    bad = static_cast<__mmask16>(bad | not_finite(x));
    __m512 const clamped = _mm512_min_ps(_mm512_max_ps(x, low), high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i),
                        _mm512_cvtps_ph(clamped, _MM_FROUND_TO_NEAREST_INT));
  }
  return scalar_kernels().to_half(in + i, n - i, out + 2 * i) && bad == 0;
}

__m512 load_halves(std::byte const* in) noexcept {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(in)));
}

void from_half(std::byte const* in, std::size_t n, float* out) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm512_storeu_ps(out + i, load_halves(in + 2 * i));
  scalar_kernels().from_half(in + 2 * i, n - i, out + i);
}

void from_half_add(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  __m512 const weights = _mm512_set1_ps(weight);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm512_storeu_ps(out + i,
                     _mm512_fmadd_ps(weights, load_halves(in + 2 * i), _mm512_loadu_ps(out + i)));
  scalar_kernels().from_half_add(in + 2 * i, n - i, weight, out + i);
}

bool halves_finite(std::byte const* in, std::size_t n) noexcept {
  __m512i const exponent = _mm512_set1_epi16(0x7c00);
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    __m512i const h = _mm512_loadu_si512(in + 2 * i);
    if (_mm512_cmpeq_epi16_mask(_mm512_and_si512(h, exponent), exponent) != 0) return false;
  }
  return scalar_kernels().halves_finite(in + 2 * i, n - i);
}

void add_scaled(std::byte const* in, std::size_t n, float weight, float* out) noexcept {
  __m512 const weights = _mm512_set1_ps(weight);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm512_storeu_ps(
        out + i, _mm512_fmadd_ps(weights, _mm512_loadu_ps(in + 4 * i), _mm512_loadu_ps(out + i)));
  scalar_kernels().add_scaled(in + 4 * i, n - i, weight, out + i);
}

}  // namespace

Kernels const& avx512_kernels() noexcept {
  static constexpr Kernels kKernels{"avx512",
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
