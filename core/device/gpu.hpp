// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace waggle::device {

/// What one graphics processor does now; unset is what its driver does not tell.
struct GpuReading {
  std::string name;
  std::optional<double> busy;  ///< share of the time, 0 to 1
  std::optional<std::uint64_t> memory_used;
  std::optional<std::uint64_t> memory_total;
  std::optional<double> celsius;
  std::optional<double> watts;

  friend bool operator==(GpuReading const&, GpuReading const&) = default;
};

/// NVIDIA's, through NVML if its driver is installed; a driver that went or came back is noticed.
/// The library stays initialised between two looks, since that is what costs. May hang with a
/// driver that is lost: use it in an Aside. Copies share one connection. Source: NVML API
/// reference.
class Nvidia {
 public:
  /// `library` is another one only in tests.
  explicit Nvidia(char const* library = "libnvidia-ml.so.1");
  /// Empty: no such driver, or no card.
  [[nodiscard]] std::vector<GpuReading> read();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// AMD's, from <sys>/class/drm. Source: Linux, Documentation/gpu/amdgpu/thermal.rst.
[[nodiscard]] std::vector<GpuReading> read_amd(std::filesystem::path const& sys);

}  // namespace waggle::device
