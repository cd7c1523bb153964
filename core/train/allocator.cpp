// SPDX-License-Identifier: MIT
#include "core/train/detail/allocator.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

namespace waggle::train::detail {
namespace {

std::atomic<std::uint64_t> held{0};
std::atomic<std::uint64_t> cap{UINT64_MAX};

void release(void* memory) {
  if (memory == nullptr) return;
  held.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

c10::DataPtr allocated(std::size_t size) {
  c10::Device const cpu(c10::DeviceType::CPU);
  if (size == 0) return {nullptr, nullptr, &release, cpu};
  if (held.load(std::memory_order_relaxed) + size > cap.load(std::memory_order_relaxed))
    throw std::bad_alloc();
  void* memory = nullptr;
  constexpr std::size_t kAlignment = 64;
  if (::posix_memalign(&memory, kAlignment, size) != 0) throw std::bad_alloc();
  held.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return {memory, memory, &release, cpu};
}

// libtorch dropped the const of allocate and asked for copy_data on the way to 2.3: each libtorch
// overrides with what it declares, and does not miss the rest.
class Capped final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) const { return allocated(size); }

  c10::DataPtr allocate(std::size_t size) { return allocated(size); }

  void copy_data(void* to, void const* from, std::size_t count) const {
    std::memcpy(to, from, count);
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }
};

}  // namespace

void install_capped_allocator(std::uint64_t limit) {
  static Capped allocator;
  cap = limit == 0 ? UINT64_MAX : limit;
  c10::SetCPUAllocator(&allocator, 99);
}

std::uint64_t allocated_bytes() noexcept {
  return held.load(std::memory_order_relaxed);
}

}  // namespace waggle::train::detail
