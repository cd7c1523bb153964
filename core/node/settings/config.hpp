// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/guest_policy.hpp"

namespace waggle::node {

/// A larger waggle.toml is not read.
constexpr std::uint64_t kMaxConfigBytes = 64u << 10;

/// How the window looks and what was said in it; a node uses none of this.
struct WindowSettings {
  std::string theme = "dark";   ///< dark | light
  std::string language;         ///< en | zh; empty: the locale's
  double size = 1;              ///< of everything, beside the display's own scale
  bool first_run_done = false;  ///< the person has read what this is, and said yes
  bool close_to_tray = true;    ///< closing the window leaves Waggle at work, where there is a tray

  friend bool operator==(WindowSettings const&, WindowSettings const&) = default;
};

/// What a person gives of network, memory and the graphics card, besides when
/// (device::GuestSettings). 0: no limit.
struct Limits {
  std::uint64_t max_download = 0;  ///< bytes a second, of all connections together
  std::uint64_t max_upload = 0;
  std::uint64_t max_memory = 0;      ///< MiB, of the trainer's tensors
  bool keep_awake = false;           ///< the machine does not fall asleep while it trains on mains
  int gpu_duty = 100;                ///< percent of the time in which the GPU computes
  std::uint64_t max_gpu_memory = 0;  ///< MiB, of the trainer's tensors on the GPU
  std::uint64_t gpu_power_cap = 0;   ///< watts, of the GPU that the trainer works on

  friend bool operator==(Limits const&, Limits const&) = default;
};

/// What <data dir>/waggle.toml says; its names are those of the flags. Flags beat the file, the
/// file beats the defaults.
///
///     peer = ["/ip4/203.0.113.5/tcp/31337/p2p/12D3KooW…"]
///     host = "0.0.0.0"
///     port = 31337
///     threads = 4
///     lan = true
///     client = false
///     power = "medium"
///     cpu_share = 100
///     disk_gib = 20
///     max_upload = 500000
///     daily_traffic = 2048
///     api_port = 8642
///     team = "The lab on the third floor"
///     [guest]
///     on_battery = false
///     quiet_hours = ["22:00-07:00", "sat,sun 10:00-12:00"]
///     [window]
///     theme = "dark"
///
/// What [guest] may hold is device::GuestSettings, under the same names, but for power and
/// daily_traffic, which stand outside, as Limits do; what [window] may hold is WindowSettings.
/// settings.hpp edits the file and lists every setting.
struct Config {
  std::vector<std::string> peers;
  std::optional<std::string> host;
  std::optional<std::uint16_t> port;
  std::optional<std::size_t> threads;
  std::optional<bool> lan;  ///< unset: yes, unless `host` is this machine's own loopback
  std::optional<bool> client;
  std::optional<std::uint64_t> disk_gib;  ///< what all blobs may take
  std::uint16_t api_port = 0;             ///< the API and the web page by TCP; 0: not
  std::optional<std::string> api_host;    ///< an IP address; unset: 127.0.0.1
  std::vector<std::string> api_names;     ///< what else browsers may call it: "box.lan"
  int cpu_share = 100;                    ///< percent of the threads' time, below that of `power`
  bool update_notice = false;             ///< ask now and then for notices of newer versions
  std::string team;                       ///< as the window shows it; it is sent to nobody
  Limits limits;
  std::string trainer;  ///< a waggle-trainer of the person's own; empty: ours
  WindowSettings window;
  device::GuestSettings guest;  ///< with what stands outside of [guest]
  /// Why the file is not used ("FILE:LINE:COLUMN: …"); then nothing else is set. Empty: all is
  /// well, or there is no file.
  std::string trouble;
};

/// Reads the data directory's waggle.toml. Never fails and never touches the file: one that is
/// wrong anywhere counts for nothing, and `trouble` says where and why.
[[nodiscard]] Config read_config(std::filesystem::path const& data_dir);
/// As read_config, of a text; `file` names it in `trouble`.
[[nodiscard]] Config parse_config(std::string_view toml, std::string_view file);

}  // namespace waggle::node
