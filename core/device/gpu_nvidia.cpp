// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/device/detail/nvml.hpp"
#include "core/device/gpu.hpp"

namespace waggle::device {
namespace {

using detail::Nvml;

constexpr double kMilli = 1e-3;
constexpr double kPercent = 1e-2;

GpuReading read_one(Nvml const& nvml, Nvml::Device* device) {
  GpuReading gpu;
  gpu.name = nvml.name_of(device);
  gpu.address = nvml.address_of(device);
  Nvml::Utilization use{};
  if (nvml.utilization && nvml.utilization(device, &use) == 0)
    gpu.busy = std::min(1.0, use.gpu * kPercent);
  Nvml::Memory memory{};
  if (nvml.memory && nvml.memory(device, &memory) == 0) {
    gpu.memory_used = memory.used;
    gpu.memory_total = memory.total;
  }
  unsigned value = 0;
  if (nvml.temperature && nvml.temperature(device, Nvml::kCelsius, &value) == 0)
    gpu.celsius = value;
  if (nvml.power && nvml.power(device, &value) == 0) gpu.watts = value * kMilli;
  return gpu;
}

}  // namespace

struct Nvidia::State {
  explicit State(char const* library) noexcept : driver(library) {}

  detail::NvmlDriver driver;
};

Nvidia::Nvidia(char const* library) : state_(std::make_shared<State>(library)) {
}

std::vector<GpuReading> Nvidia::read() {
  auto& driver = state_->driver;
  std::vector<GpuReading> gpus;
  if (!driver.begin()) return gpus;
  auto const& nvml = driver.nvml();
  unsigned count = 0;
  if (nvml.count(&count) != 0) {
    driver.end();
    return gpus;
  }
  for (unsigned i = 0; i < std::min(count, Nvml::kMaxGpus); ++i) {
    Nvml::Device* device = nullptr;
    if (nvml.handle(i, &device) == 0) gpus.push_back(read_one(nvml, device));
  }
  return gpus;
}

}  // namespace waggle::device
