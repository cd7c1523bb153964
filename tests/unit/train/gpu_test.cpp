// SPDX-License-Identifier: MIT
#include "core/train/gpu.hpp"

#include <c10/util/Exception.h>
#include <doctest/doctest.h>

using namespace waggle::train;

TEST_CASE("gpu, none is a value, with the reason where one could be used") {
  auto const gpu = start_gpu(std::uint64_t{1} << 30);
  if (gpu.works) return;  // a machine that has one
  CHECK(gpu.address == "");
  CHECK(gpu.trouble.empty() != can_gpu());
}

TEST_CASE("gpu, what torch throws when it is lost, and what it throws for other reasons") {
  for (auto const* const text :
       {"CUDA error: no CUDA-capable device is detected",
        "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously "
        "reported",
        "CUDA driver initialization failed, you might not have a CUDA gpu.",
        "Found no NVIDIA driver on your system.",
        "Unexpected error from cudaGetDeviceCount(). CUDA unknown error - this may be due to an "
        "incorrectly set up environment",
        "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
        "HIP error: device kernel image is invalid"}) {
    CAPTURE(text);
    CHECK(says_gpu_lost(text));
  }
  for (auto const* const text :
       {"CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)",
        "CUDA error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "HIP out of memory. Tried to allocate 20.00 MiB",
        "mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)",
        ""}) {
    CAPTURE(text);
    CHECK(!says_gpu_lost(text));
  }
}

TEST_CASE("gpu, its OutOfMemoryError is known for what it is") {
  try {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 2.00 GiB");
    FAIL("nothing was thrown");
  } catch (c10::Error const& failure) {
    CHECK(says_out_of_memory(failure.what_without_backtrace()));
    CHECK(!says_gpu_lost(failure.what_without_backtrace()));
  }
  CHECK(says_out_of_memory(
      "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory"));
  CHECK(says_out_of_memory(
      "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"));
  CHECK(!says_out_of_memory("CUDA error: no CUDA-capable device is detected"));
}
