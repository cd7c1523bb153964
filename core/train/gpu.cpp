// SPDX-License-Identifier: MIT
#include "core/train/gpu.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <dlfcn.h>
#ifdef WAGGLE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace waggle::train {
namespace {

constexpr std::size_t kMostWords = 512;

std::string words_of(std::exception const& failure) {
  auto const* const torch = dynamic_cast<c10::Error const*>(&failure);
  std::string const words = torch != nullptr ? torch->what_without_backtrace() : failure.what();
  return std::string(utf8_prefix(words, kMostWords));
}

// CUDA's runtime is in the process with libtorch_cuda: its headers are not needed for what is plain
// C. ROCm's libtorch calls itself CUDA too, and has the same under other names.
template <class F>
F runtime_function(char const* cuda, char const* hip) {
  void* found = ::dlsym(RTLD_DEFAULT, cuda);
  if (found == nullptr) found = ::dlsym(RTLD_DEFAULT, hip);
  return reinterpret_cast<F>(found);
}

std::string address_of_first() {
  auto const get =
      runtime_function<int (*)(char*, int, int)>("cudaDeviceGetPCIBusId", "hipDeviceGetPCIBusId");
  std::array<char, 32> text{};
  if (get == nullptr || get(text.data(), static_cast<int>(text.size()), 0) != 0) return {};
  text.back() = '\0';
  std::string address(text.data());
  std::ranges::transform(address, address.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return address;
}

// Empty: it is held.
std::string hold_memory([[maybe_unused]] std::uint64_t limit) {
#ifdef WAGGLE_CUDA
  auto const get =
      runtime_function<int (*)(std::size_t*, std::size_t*)>("cudaMemGetInfo", "hipMemGetInfo");
  std::size_t free = 0;
  std::size_t total = 0;
  if (get == nullptr || get(&free, &total) != 0 || total == 0)
    return "max_gpu_memory is not held: the driver does not tell how much memory the GPU has";
  auto const part = static_cast<double>(limit) / static_cast<double>(total);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(part, 1.0), 0);
  return {};
#else
  if (is_rocm())
    return "max_gpu_memory is not held: of a trainer with ROCm it never is; set max_gpu_memory to "
           "0";
  return "max_gpu_memory is not held: this waggle-trainer was built without CUDA's headers; build "
         "it again with installer/make-trainer where nvidia-cuda-runtime's include folder is";
#endif
}

template <std::size_t N>
bool has_one_of(std::string_view what, std::array<std::string_view, N> const& signs) noexcept {
  return std::ranges::any_of(
      signs, [what](std::string_view sign) { return what.find(sign) != what.npos; });
}

}  // namespace

bool can_gpu() noexcept {
  // hasCUDA() is false, too, where no GPU answers.
  return at::Context::hasCUDART() || is_rocm();
}

bool is_rocm() noexcept {
  return at::detail::getCUDAHooks().hasROCM();
}

Gpu start_gpu(std::uint64_t memory_limit) {
  Gpu gpu;
  if (!can_gpu()) return gpu;
  try {
    if (at::detail::getCUDAHooks().getNumGPUs() < 1) {
      gpu.trouble = "no GPU was found";
      return gpu;
    }
    // The first tensor starts the driver, which may fail where counting did not.
    (void)at::empty({1}, at::TensorOptions().device(at::Device(at::kCUDA, 0)));
    gpu.address = address_of_first();
    if (memory_limit != 0) gpu.trouble = hold_memory(memory_limit);
    gpu.works = true;
  } catch (std::exception const& failure) {
    gpu.trouble = words_of(failure);
  }
  return gpu;
}

bool says_out_of_memory(std::string_view what) noexcept {
  // CUDA's libraries take memory of their own, and have their own word for it.
  constexpr std::array<std::string_view, 4> kSigns{"out of memory",
                                                   "can't allocate memory",
                                                   "CUBLAS_STATUS_ALLOC_FAILED",
                                                   "CUDNN_STATUS_ALLOC_FAILED"};
  return has_one_of(what, kSigns);
}

bool says_gpu_lost(std::string_view what) noexcept {
  if (says_out_of_memory(what)) return false;
  constexpr std::array<std::string_view, 11> kSigns{"CUDA error",
                                                    "CUDA driver",
                                                    "CUDA unknown error",
                                                    "CUDA-capable",
                                                    "NVIDIA driver",
                                                    "cuDNN error",
                                                    "CUDNN_STATUS",
                                                    "CUBLAS_STATUS",
                                                    "HIP error",
                                                    "MIOPEN_STATUS",
                                                    "HIPBLAS_STATUS"};
  return has_one_of(what, kSigns);
}

}  // namespace waggle::train
