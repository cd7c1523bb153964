// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device/guest_policy.hpp"
#include "core/node/settings/config.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node {

/// What a node is started with: flags over file over these defaults.
struct Options {
  std::filesystem::path data_dir;
  std::string listen_host = "0.0.0.0";
  std::uint16_t port = 0;  ///< 0: the one used last, else any; a busy one makes way for the next
  std::vector<wire::Multiaddr> peers;  ///< where to begin, each with /p2p/
  std::size_t threads = 1;             ///< of the trainer
  std::size_t threads_wanted = 0;      ///< as a person set them; 0: by `guest.power`
  device::GuestSettings guest;
  int cpu_share = 100;  ///< percent of the threads' time
  Limits limits;
  std::filesystem::path trainer;  ///< a waggle-trainer of the person's own; empty: ours
  /// What was given as a flag, by setting, as TOML writes it: it stands whatever waggle.toml says.
  std::map<std::string, std::string, std::less<>> flags;
  bool always = false;  ///< compute whatever the rules of `guest` say
  device::SensorRoots sensors;
  std::optional<std::uint64_t> disk_limit;  ///< bytes of all blobs; unset: BlobOptions' default
  bool lan = false;                         ///< meet peers of the local network by multicast DNS
  bool client_mode = false;                 ///< accept no connections, serve nothing
  bool serve_api = true;                    ///< <data dir>/api.sock
  std::uint16_t api_port = 0;               ///< the API and the web page by TCP too; 0: not
  std::string api_host = "127.0.0.1";       ///< an IP address
  std::vector<std::string> api_names;       ///< further names of that place, for ApiDoor
  std::vector<std::string> notices;         ///< what there is to say of how it was started
  std::string version = "0.1.0";
};

/// Something that happened, for `--json` (one object a line), the API's event stream and a person.
struct Event {
  std::string json;
  std::string text;  ///< empty: of no interest to a person
};

using EventSink = std::function<void(Event const&)>;

/// Whether `host` is an address of this machine's own loopback: then nobody else can come.
[[nodiscard]] bool is_loopback(std::string const& host);

/// XDG's data home: $XDG_DATA_HOME/waggle or ~/.local/share/waggle.
[[nodiscard]] std::filesystem::path default_data_dir();

}  // namespace waggle::node
