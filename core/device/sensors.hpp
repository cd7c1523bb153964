// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/runtime.hpp"
#include "core/device/battery.hpp"
#include "core/device/gpu.hpp"

namespace waggle::device {

/// Where the kernel's files are; others only in tests.
struct SensorRoots {
  std::filesystem::path sys = "/sys";
  std::filesystem::path proc = "/proc";
  char const* nvml = kNvml;
};

/// What this machine does now. Unset is what it cannot tell, which is no error: a server has no
/// battery, no X server and perhaps no thermal sensor.
struct Readings {
  Power power;
  std::optional<double> cpu_all;         ///< share of all processors, 0 to 1
  std::optional<double> cpu_others;      ///< without Waggle's; only if asked for
  std::optional<double> celsius;         ///< the processor
  std::optional<double> idle_seconds;    ///< since keyboard or mouse were touched
  std::optional<std::string> inhibitor;  ///< who keeps the screen on: a film, a presentation
  std::optional<bool> metered;           ///< the network
  bool on_gpu = false;                   ///< our own work; set by whoever has it done
  /// Bytes over the network since midnight; set by whoever counts them.
  std::optional<std::uint64_t> traffic_today;
  std::optional<std::string> program;  ///< the first of those looked for that runs
  std::vector<GpuReading> gpus;
  std::string
      gpu_power_trouble;  ///< why the wished power cap does not hold; empty: nothing is wrong
};

/// What costs something to read is read only if wished for.
struct SensorWishes {
  std::vector<std::string> programs;
  bool cpu_others = false;
  bool idle = false;
  std::uint64_t gpu_power_cap = 0;  ///< watts; 0: none, and what was set before is put back
  std::string gpu;                  ///< which, as find_gpu() takes it
};

/// Reads all sensors, each kind in a thread of its own with a time limit, so that a hung X server,
/// bus, driver or battery controller holds nobody up and counts as unavailable.
class Sensors {
 public:
  explicit Sensors(SensorRoots roots);
  ~Sensors();

  void wish(SensorWishes wishes);
  /// Whether nothing is computed and nothing shall begin at once: then all is asked more seldom,
  /// and together, so that a computer at rest is left at rest. Files and idleness each ten seconds,
  /// buses and cards each thirty; a power cap is put back as fast as ever. Back to normal, the next
  /// answers come within the usual time. Cheap to repeat. Thread: the caller of poll().
  void calm(bool on);
  /// The newest of everything; asks again for what is old. Call it once a second or so. Never
  /// blocks. Thread: one caller.
  [[nodiscard]] Readings poll(TimePoint now, double unix_time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::device
