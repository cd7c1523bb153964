// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace waggle::device::detail {

/// NVML's functions and types, as far as we touch them: its headers are not needed to build. A
/// function that the library lacks is null. Every one answers 0 for done. Source: NVML API
/// reference.
struct Nvml {
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

  struct Pci {
    char legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned id;
    unsigned subsystem;
    char text[32];
  };

  static constexpr unsigned kMaxGpus = 64;
  static constexpr unsigned kCelsius = 0;  // NVML_TEMPERATURE_GPU
  static constexpr int kNoPermission = 4;  // NVML_ERROR_NO_PERMISSION

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device**) = nullptr;
  int (*name)(Device*, char*, unsigned) = nullptr;
  int (*pci)(Device*, Pci*) = nullptr;
  int (*utilization)(Device*, Utilization*) = nullptr;
  int (*memory)(Device*, Memory*) = nullptr;
  int (*temperature)(Device*, unsigned, unsigned*) = nullptr;
  int (*power)(Device*, unsigned*) = nullptr;                   ///< milliwatts, as all that follow
  int (*power_limit)(Device*, unsigned*) = nullptr;             ///< the one that holds
  int (*power_range)(Device*, unsigned*, unsigned*) = nullptr;  ///< what may be set
  int (*set_power_limit)(Device*, unsigned) = nullptr;

  Nvml() = default;
  explicit Nvml(char const* library);

  [[nodiscard]] bool complete() const { return init && shutdown && count && handle; }

  /// Never empty.
  [[nodiscard]] std::string name_of(Device* device) const;
  /// "0000:65:00.0"; empty: not told.
  [[nodiscard]] std::string address_of(Device* device) const;
};

/// The library as one user has it: loaded when first needed, initialised while in use. It may be
/// installed at any time, but looking for one that is not there goes through all folders of
/// libraries: only each kLooks-th begin() does.
class NvmlDriver {
 public:
  static constexpr unsigned kLooks = 30;  // five minutes, as the sensors ask

  explicit NvmlDriver(char const* library) noexcept : library_(library) {}

  ~NvmlDriver() { end(); }

  NvmlDriver(NvmlDriver const&) = delete;
  NvmlDriver& operator=(NvmlDriver const&) = delete;

  /// Whether the driver answers. Costs nothing where it did before.
  [[nodiscard]] bool begin();
  void end();

  [[nodiscard]] bool loaded() const noexcept { return nvml_.complete(); }

  [[nodiscard]] char const* library() const noexcept { return library_; }

  /// To be called only after begin() said so.
  [[nodiscard]] Nvml const& nvml() const noexcept { return nvml_; }

 private:
  char const* library_;
  Nvml nvml_;
  bool up_ = false;
  unsigned skip_ = 0;  // so many begin() do not look for the library
};

}  // namespace waggle::device::detail
