// SPDX-License-Identifier: MIT
#include "core/compress/detail/kernels.hpp"

namespace waggle::compress::detail {
namespace {

struct Usable {
  std::array<Kernels const*, 3> sets{};
  std::size_t count = 0;

  Usable() noexcept {
    sets[count++] = &scalar_kernels();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c"))
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
