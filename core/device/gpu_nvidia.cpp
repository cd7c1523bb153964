// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "core/device/detail/library.hpp"
#include "core/device/gpu.hpp"

namespace waggle::device {
namespace {

constexpr unsigned kMaxGpus = 64;
constexpr unsigned kCelsius = 0;  // NVML_TEMPERATURE_GPU
constexpr double kMilli = 1e-3;
constexpr double kPercent = 1e-2;

// NVML's types, as far as we touch them: its headers are not needed to build.
struct Device;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device**) = nullptr;
  int (*name)(Device*, char*, unsigned) = nullptr;
  int (*utilization)(Device*, Utilization*) = nullptr;
  int (*memory)(Device*, Memory*) = nullptr;
  int (*temperature)(Device*, unsigned, unsigned*) = nullptr;
  int (*power)(Device*, unsigned*) = nullptr;  ///< milliwatts

  explicit Nvml(char const* library) {
    detail::Library const nvml(library);
    init = nvml.function<decltype(init)>("nvmlInit_v2");
    shutdown = nvml.function<decltype(shutdown)>("nvmlShutdown");
    count = nvml.function<decltype(count)>("nvmlDeviceGetCount_v2");
    handle = nvml.function<decltype(handle)>("nvmlDeviceGetHandleByIndex_v2");
    name = nvml.function<decltype(name)>("nvmlDeviceGetName");
    utilization = nvml.function<decltype(utilization)>("nvmlDeviceGetUtilizationRates");
    memory = nvml.function<decltype(memory)>("nvmlDeviceGetMemoryInfo");
    temperature = nvml.function<decltype(temperature)>("nvmlDeviceGetTemperature");
    power = nvml.function<decltype(power)>("nvmlDeviceGetPowerUsage");
  }

  [[nodiscard]] bool complete() const { return init && shutdown && count && handle; }
};

GpuReading read_one(Nvml const& nvml, Device* device) {
  GpuReading gpu;
  std::array<char, 96> name{};
  if (nvml.name && nvml.name(device, name.data(), name.size()) == 0) {
    name.back() = '\0';
    gpu.name = name.data();
  }
  if (gpu.name.empty()) gpu.name = "NVIDIA GPU";
  Utilization use{};
  if (nvml.utilization && nvml.utilization(device, &use) == 0)
    gpu.busy = std::min(1.0, use.gpu * kPercent);
  Memory memory{};
  if (nvml.memory && nvml.memory(device, &memory) == 0) {
    gpu.memory_used = memory.used;
    gpu.memory_total = memory.total;
  }
  unsigned value = 0;
  if (nvml.temperature && nvml.temperature(device, kCelsius, &value) == 0) gpu.celsius = value;
  if (nvml.power && nvml.power(device, &value) == 0) gpu.watts = value * kMilli;
  return gpu;
}

}  // namespace

struct Nvidia::State {
  explicit State(char const* library) : name(library), nvml(library) {}

  ~State() {
    if (up) nvml.shutdown();
  }

  char const* name;
  Nvml nvml;
  bool up = false;
};

Nvidia::Nvidia(char const* library) : state_(std::make_shared<State>(library)) {
}

std::vector<GpuReading> Nvidia::read() {
  auto& s = *state_;
  std::vector<GpuReading> gpus;
  if (!s.nvml.complete()) s.nvml = Nvml(s.name);  // installed meanwhile
  if (!s.nvml.complete()) return gpus;
  s.up = s.up || s.nvml.init() == 0;
  if (!s.up) return gpus;
  unsigned count = 0;
  if (s.nvml.count(&count) != 0) {
    s.nvml.shutdown();
    s.up = false;
    return gpus;
  }
  for (unsigned i = 0; i < std::min(count, kMaxGpus); ++i) {
    Device* device = nullptr;
    if (s.nvml.handle(i, &device) == 0) gpus.push_back(read_one(s.nvml, device));
  }
  return gpus;
}

}  // namespace waggle::device
