// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace waggle::device {

/// NVIDIA's management library, which comes with its driver.
constexpr char kNvml[] = "libnvidia-ml.so.1";

/// What one graphics processor does now; unset is what its driver does not tell.
struct GpuReading {
  std::string name;
  std::optional<double> busy;  ///< share of the time, 0 to 1
  std::optional<std::uint64_t> memory_used;
  std::optional<std::uint64_t> memory_total;
  std::optional<double> celsius;
  std::optional<double> watts;
  std::string address;  ///< on the PCI bus, as Linux writes it: "0000:65:00.0"

  friend bool operator==(GpuReading const&, GpuReading const&) = default;
};

/// NVIDIA's, through NVML if its driver is installed; a driver that went or came back is noticed.
/// The library stays initialised between two looks, since that is what costs. May hang with a
/// driver that is lost: use it in an Aside. Copies share one connection. Source: NVML API
/// reference.
class Nvidia {
 public:
  /// `library` is another one only in tests.
  explicit Nvidia(char const* library = kNvml);
  /// Empty: no such driver, or no card.
  [[nodiscard]] std::vector<GpuReading> read();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The one at this place; where the place is not known (empty), the only one there is. Null: cannot
/// be told.
[[nodiscard]] GpuReading const* find_gpu(std::span<GpuReading const> gpus,
                                         std::string_view address);

/// AMD's, from <sys>/class/drm. Source: Linux, Documentation/gpu/amdgpu/thermal.rst.
[[nodiscard]] std::vector<GpuReading> read_amd(std::filesystem::path const& sys);

}  // namespace waggle::device
