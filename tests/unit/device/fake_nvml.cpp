// SPDX-License-Identifier: MIT
// A stand-in for NVIDIA's library: two cards, the second of which tells nothing.
#include <cstring>

namespace {

int cards[2];

bool first(void const* device) {
  return device == &cards[0];
}

constexpr int kNotSupported = 3;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return 0;
}

int nvmlShutdown() {
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &cards[index];
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  if (!first(device)) return kNotSupported;
  std::strncpy(name, "NVIDIA Fake 9000", length);
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned* use) {
  if (!first(device)) return kNotSupported;
  use[0] = 37;
  use[1] = 12;
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  if (!first(device)) return kNotSupported;
  memory[0] = 8ULL << 30;
  memory[1] = 6ULL << 30;
  memory[2] = 2ULL << 30;
  return 0;
}

int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  if (!first(device) || sensor != 0) return kNotSupported;
  *celsius = 66;
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (!first(device)) return kNotSupported;
  *milliwatts = 125'500;
  return 0;
}
}
