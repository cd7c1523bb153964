// SPDX-License-Identifier: MIT
#include "core/device/detail/nvml.hpp"

#include <array>
#include <cstdio>

#include "core/device/detail/library.hpp"

namespace waggle::device::detail {

Nvml::Nvml(char const* library) {
  Library const nvml(library);
  init = nvml.function<decltype(init)>("nvmlInit_v2");
  shutdown = nvml.function<decltype(shutdown)>("nvmlShutdown");
  count = nvml.function<decltype(count)>("nvmlDeviceGetCount_v2");
  handle = nvml.function<decltype(handle)>("nvmlDeviceGetHandleByIndex_v2");
  name = nvml.function<decltype(name)>("nvmlDeviceGetName");
  pci = nvml.function<decltype(pci)>("nvmlDeviceGetPciInfo_v3");
  utilization = nvml.function<decltype(utilization)>("nvmlDeviceGetUtilizationRates");
  memory = nvml.function<decltype(memory)>("nvmlDeviceGetMemoryInfo");
  temperature = nvml.function<decltype(temperature)>("nvmlDeviceGetTemperature");
  power = nvml.function<decltype(power)>("nvmlDeviceGetPowerUsage");
  power_limit = nvml.function<decltype(power_limit)>("nvmlDeviceGetPowerManagementLimit");
  power_range =
      nvml.function<decltype(power_range)>("nvmlDeviceGetPowerManagementLimitConstraints");
  set_power_limit = nvml.function<decltype(set_power_limit)>("nvmlDeviceSetPowerManagementLimit");
}

std::string Nvml::name_of(Device* device) const {
  std::array<char, 96> text{};
  if (name && name(device, text.data(), text.size()) == 0) {
    text.back() = '\0';
    if (text.front() != '\0') return text.data();
  }
  return "NVIDIA GPU";
}

std::string Nvml::address_of(Device* device) const {
  Pci place{};
  if (!pci || pci(device, &place) != 0) return {};
  std::array<char, 40> text{};
  std::snprintf(
      text.data(), text.size(), "%04x:%02x:%02x.0", place.domain, place.bus, place.device);
  return text.data();
}

bool NvmlDriver::begin() {
  if (!nvml_.complete()) {
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    nvml_ = Nvml(library_);
    if (!nvml_.complete()) {
      skip_ = kLooks - 1;
      return false;
    }
  }
  up_ = up_ || nvml_.init() == 0;
  return up_;
}

void NvmlDriver::end() {
  if (up_) nvml_.shutdown();
  up_ = false;
}

}  // namespace waggle::device::detail
