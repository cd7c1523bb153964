// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/scope.hpp"
#include "core/device/energy.hpp"
#include "core/device/guest_policy.hpp"
#include "core/device/inhibitors.hpp"
#include "core/node/guest/daily_traffic.hpp"
#include "core/node/services.hpp"
#include "core/node/settings/config.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// Looks at the machine once a second while a task computes or somebody watches us, else every
/// ten; follows waggle.toml as it is edited, and says whether to compute and how much. Thread: the
/// network thread; the sensors have their own.
class Guest {
 public:
  /// `changed` is told each time that the verdict, the effort or the memory is another.
  Guest(Services& services, std::function<void()> changed);
  ~Guest();
  [[nodiscard]] Co<void> close();

  [[nodiscard]] device::Verdict const& verdict() const noexcept { return verdict_; }

  /// The trainer's threads, and the share of their time.
  [[nodiscard]] device::Effort effort() const noexcept;

  /// Bytes that the trainer's tensors may take; 0: no limit.
  [[nodiscard]] std::uint64_t memory_limit() const noexcept { return limits_.max_memory << 20; }

  [[nodiscard]] std::uint64_t gpu_memory_limit() const noexcept {
    return limits_.max_gpu_memory << 20;
  }

  /// Whether a task computes now, for only then is the machine kept awake; whether its trainer
  /// works on a GPU, and on which (as device::find_gpu() takes it): only while both hold is its
  /// power limited, and counted. Call it often.
  void computes(bool now, bool on_gpu, std::string gpu);

  /// What the GPU took while it worked for us, since the start.
  [[nodiscard]] double gpu_joules() const noexcept { return gpu_energy_.joules(); }

  /// A person says to compute, whatever holds now; or to rest, and then no override is left.
  void person_runs();
  void person_rests();

  [[nodiscard]] GuestView view() const;
  [[nodiscard]] MachineView machine() const;

  /// Every setting with what holds.
  [[nodiscard]] std::vector<SettingView> const& settings() const noexcept { return settings_; }

  /// waggle.toml was changed: looks at it now, and calls `followed` once what it says holds.
  void look_at_file(std::function<void()> followed = {});
  /// Somebody reads view() and machine(); who does so again and again finds them newer.
  void looked_at();

 private:
  [[nodiscard]] Co<void> watch();
  [[nodiscard]] Duration pause() const;
  void look_soon() noexcept;
  void mind_blindness();
  [[nodiscard]] Co<bool> rest();
  [[nodiscard]] Co<void> follow_file();
  void use(device::GuestSettings settings);
  void use(Config const& config);
  [[nodiscard]] bool is_flag(std::string_view setting) const;
  void use(Limits const& limits);
  void wish();
  void look_at_gpu();
  void judge();
  [[nodiscard]] Co<void> recall_traffic();
  void keep_traffic();
  void look_at_machine();

  Services& services_;
  std::function<void()> changed_;
  device::Sensors sensors_;
  device::CoreWatts watts_;
  device::GpuEnergy gpu_energy_;
  device::GuestPolicy policy_;
  device::Readings readings_;
  device::Verdict verdict_;
  MachineView machine_;
  std::vector<SettingView> settings_;
  DailyTraffic traffic_;
  std::optional<std::string> traffic_kept_;  ///< as the store has it
  device::KeepAwake awake_;
  std::string awake_trouble_;  ///< as it was said
  Limits limits_;
  bool computes_ = false;
  bool on_gpu_ = false;
  std::string gpu_;                ///< where it is
  std::string gpu_power_trouble_;  ///< as it was said
  std::size_t threads_wanted_;
  int cpu_share_;
  std::optional<std::filesystem::file_time_type> file_time_;
  std::optional<TimePoint> blind_since_;  ///< none tells whether somebody is there
  bool blindness_said_ = false;
  std::optional<TimePoint> looked_at_;
  TimePoint watched_until_{};
  bool look_soon_ = false;
  std::vector<std::function<void()>> file_soon_;  ///< whoever waits for a look at the file
  Signal soon_;
  Scope scope_;
};

}  // namespace waggle::node
