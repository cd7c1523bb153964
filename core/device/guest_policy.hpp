// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/runtime.hpp"
#include "core/device/power_level.hpp"
#include "core/device/quiet_hours.hpp"
#include "core/device/sensors.hpp"

namespace waggle::device {

/// When to compute, [guest] in waggle.toml. The defaults let a server compute always: without
/// a battery, a metered network and a desktop none of these rules can hold, and the others are off
/// until somebody sets them.
struct GuestSettings {
  PowerLevel power = PowerLevel::medium;
  bool on_battery = false;  ///< compute on battery too
  bool on_metered = false;  ///< compute on a metered network too
  int idle_minutes = 0;     ///< only when nobody touched the machine for so long; 0: off
  /// The same for work on a GPU, where the desktop stutters under what a processor does not feel.
  int gpu_idle_minutes = 3;
  int cpu_load = 0;                 ///< not while others use more percent of it; 0: off
  int temperature = 0;              ///< not while the processor is hotter, °C; 0: off
  std::uint64_t daily_traffic = 0;  ///< not once so many MiB went over the network today; 0: off
  std::vector<QuietHours> quiet_hours;
  std::vector<std::string> programs;  ///< not while one of them runs

  /// What holds for work on a GPU or beside one; 0: no rule.
  [[nodiscard]] int wanted_idle_minutes(bool on_gpu) const noexcept {
    return on_gpu ? std::max(idle_minutes, gpu_idle_minutes) : idle_minutes;
  }

  friend bool operator==(GuestSettings const&, GuestSettings const&) = default;
};

/// Why a guest rests, the most telling first.
enum class Cause : std::uint8_t {
  battery,
  program,
  in_use,
  quiet_hours,
  heat,
  cpu_load,
  metered,
  traffic
};
constexpr std::size_t kCauses = 8;

struct Verdict {
  bool run = true;
  std::string reason;               ///< why not, in words; set exactly if run is false
  std::vector<std::string> causes;  ///< all that hold, those overridden too
  bool overridden = false;          ///< some hold, and a person said to run all the same

  friend bool operator==(Verdict const&, Verdict const&) = default;
};

/// Decides from readings whether to compute. Pure: time and readings in, verdict out.
///
/// It does not flap: what makes it rest does so at once, or after ten seconds where a moment says
/// nothing (load, heat), and must have been over for a while (kQuiet, by cause) before it goes on;
/// load and heat have a lower threshold for that, too. A reading that is unavailable speaks for
/// computing: nobody is locked out by a sensor that broke.
class GuestPolicy {
 public:
  explicit GuestPolicy(GuestSettings settings);

  /// Rules that changed are judged afresh, at once.
  void set(GuestSettings settings);

  [[nodiscard]] GuestSettings const& settings() const noexcept { return settings_; }

  [[nodiscard]] Verdict decide(Readings const& readings, LocalTime local, TimePoint now);

  /// A person says to compute although it should rest. Holds for each cause that holds now until
  /// that cause ends; another one makes it rest again.
  void run_anyway() noexcept;
  /// A person says to rest: nothing is overridden any more.
  void forget_override() noexcept;

 private:
  struct Rule {
    bool holds = false;
    bool overridden = false;
    std::optional<TimePoint> other_since;  ///< since when the readings say the opposite
    std::string text;
  };

  enum class Says : std::uint8_t { rest, between, go };

  struct Opinion {
    Says says = Says::go;
    std::string text;
  };

  [[nodiscard]] Opinion opinion(Cause cause, Readings const& readings, LocalTime local) const;
  void step(Cause cause, Opinion opinion, TimePoint now);

  GuestSettings settings_;
  std::array<Rule, kCauses> rules_;
};

}  // namespace waggle::device
