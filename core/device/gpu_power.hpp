// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/gpu.hpp"

namespace waggle::device {

/// Holds one NVIDIA card below so many watts, which its driver lets root do, and puts back what was
/// set before, or what somebody else set above it meanwhile. A limit that is lower stays. What is
/// to be put back stands in a file, too: after a kill -9 the next one puts it back. The file is
/// beside the other facts that end with a restart of the computer, as the limit does. May hang with
/// a driver that is lost: use it in an Aside. Source: NVML API reference, device commands.
class GpuPowerCap {
 public:
  /// `library` and `run` are others only in tests.
  explicit GpuPowerCap(char const* library = kNvml, std::filesystem::path run = "/run");
  /// Puts back what is held.
  ~GpuPowerCap();
  GpuPowerCap(GpuPowerCap const&) = delete;
  GpuPowerCap& operator=(GpuPowerCap const&) = delete;

  /// `watts`: 0 for none. `address`: of the card, as find_gpu() takes it. Why it does not hold,
  /// with the card, the limit, what its driver allows and what to do; empty: it holds, or none is
  /// wanted. Call it now and then: it looks each time whether the limit still holds.
  [[nodiscard]] std::string hold(std::uint64_t watts, std::string_view address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::device
