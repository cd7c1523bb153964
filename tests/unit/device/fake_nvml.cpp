// SPDX-License-Identifier: MIT
// A stand-in for NVIDIA's library: two cards, the second of which tells nothing but its place. How
// it answers the wish for a power limit stands in the file that WAGGLE_FAKE_NVML_FILE names, which
// holds the first card's limit, what it allows at least and at most (milliwatts) and the code with
// which a new limit is refused (0: it is not); the file is written anew with each limit that is
// set. The file that WAGGLE_FAKE_NVML_ASKED names is made once somebody asks for the cards.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

int cards[2];

bool first(void const* device) {
  return device == &cards[0];
}

constexpr int kNotSupported = 3;

struct Power {
  unsigned limit = 300'000, least = 100'000, most = 350'000;
  int refusal = 0;
  unsigned set = 0;  // how often

  static std::string file() {
    char const* const name = std::getenv("WAGGLE_FAKE_NVML_FILE");
    return name == nullptr ? "" : name;
  }

  static Power read() {
    Power p;
    std::ifstream in(file());
    in >> p.limit >> p.least >> p.most >> p.refusal >> p.set;
    return p;
  }

  void write() const {
    std::ofstream(file()) << limit << ' ' << least << ' ' << most << ' ' << refusal << ' ' << set;
  }
};

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return 0;
}

int nvmlShutdown() {
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (char const* const asked = std::getenv("WAGGLE_FAKE_NVML_ASKED")) std::ofstream{asked};
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

int nvmlDeviceGetPciInfo_v3(void* device, void* place) {
  auto* const pci = static_cast<Pci*>(place);
  pci->domain = 0;
  pci->bus = first(device) ? 0x65 : 0xb3;
  pci->device = 0;
  return 0;
}

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
  if (!first(device)) return kNotSupported;
  *milliwatts = Power::read().limit;
  return 0;
}

int nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned* least, unsigned* most) {
  if (!first(device)) return kNotSupported;
  auto const power = Power::read();
  *least = power.least;
  *most = power.most;
  return 0;
}

int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatts) {
  if (!first(device)) return kNotSupported;
  auto power = Power::read();
  if (power.refusal != 0) return power.refusal;
  power.limit = milliwatts;
  ++power.set;
  power.write();
  return 0;
}
}
