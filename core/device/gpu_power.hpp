// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/gpu.hpp"

namespace waggle::device {

/// Holds one NVIDIA card below so many watts, which its driver lets root do, and puts back what was
/// set before. A limit that is lower already stays; one that somebody else set meanwhile is not
/// touched again. A program that ends at once (kill -9) leaves the card as it is until its driver
/// is loaded again (or `nvidia-smi -pl`). May hang with a driver that is lost: use it in an Aside.
/// Source: NVML API reference, device commands.
class GpuPowerCap {
 public:
  /// `library` is another one only in tests.
  explicit GpuPowerCap(char const* library = kNvml);
  /// As hold(0, {}).
  ~GpuPowerCap();
  GpuPowerCap(GpuPowerCap const&) = delete;
  GpuPowerCap& operator=(GpuPowerCap const&) = delete;

  /// `watts`: 0 for none. `address`: of the card, as find_gpu() takes it. Why it does not hold,
  /// with the card, the limit, what its driver allows and what to do; empty: it holds, or none is
  /// wanted. Call it now and then: only what changed costs something.
  [[nodiscard]] std::string hold(std::uint64_t watts, std::string_view address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::device
