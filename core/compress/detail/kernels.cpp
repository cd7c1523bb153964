// SPDX-License-Identifier: MIT
#include "core/compress/detail/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace waggle::compress::detail {
namespace {

#if defined(__x86_64__)
// clang 14 does not know the name f16c; the AVX state it needs is checked with avx2.
bool has_f16c() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

struct Usable {
  std::array<Kernels const*, 3> sets{};
  std::size_t count = 0;

  Usable() noexcept {
    sets[count++] = &scalar_kernels();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
      sets[count++] = &avx2_kernels();
    if (count == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      sets[count++] = &avx512_kernels();
#endif
  }
};

Usable const& usable() noexcept {
  static Usable const found;
  return found;
}

}  // namespace

std::span<Kernels const* const> usable_kernels() noexcept {
  return std::span(usable().sets).first(usable().count);
}

Kernels const& kernels() noexcept {
  return *usable_kernels().back();
}

}  // namespace waggle::compress::detail
