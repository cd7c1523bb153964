// SPDX-License-Identifier: MIT
#include "core/node/settings/config.hpp"

#include <algorithm>
#include <initializer_list>

#include <arpa/inet.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/net/rate_limit.hpp"
#include "core/node/release/notice.hpp"
#include "core/task/strict_toml.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node {
namespace {

constexpr std::int64_t kMaxThreads = 256;
constexpr std::size_t kMaxPeers = 64;
constexpr std::int64_t kLeastDiskGib = 1;
constexpr std::int64_t kMostDiskGib = 1 << 20;
constexpr std::size_t kMaxRules = 64;
constexpr std::size_t kMaxProgramName = 255;
constexpr std::int64_t kMostIdleMinutes = 24 * 60;
constexpr std::int64_t kMostPercent = 100;
constexpr std::int64_t kMostCelsius = 120;
constexpr std::size_t kMaxHostName = 255;
constexpr std::int64_t kLeastShare = 5;  // percent; less: a round of others waits for our batch
constexpr std::uint64_t kMostRate = std::uint64_t{1} << 40;  // bytes a second
constexpr std::uint64_t kLeastDailyMib = 16;                 // less: gone before the first round
constexpr std::uint64_t kMostDailyMib = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastMemoryMib = 64;  // less: no model of any use
constexpr std::uint64_t kMostMemoryMib = std::uint64_t{1} << 30;
constexpr std::int64_t kLeastGpuDuty = 5;   // percent; as kLeastShare
constexpr std::uint64_t kLeastWatts = 10;   // less: no card's driver allows it
constexpr std::uint64_t kMostWatts = 2000;  // more: no card takes it
constexpr std::size_t kMaxTeam = 64;        // bytes
constexpr std::size_t kMaxPath = 4096;      // bytes
constexpr double kSmallestSize = 0.75;      // as the window can draw
constexpr double kLargestSize = 3;

struct Reader {
  std::string_view file;
  Config config;

  Status wrong(toml::source_region const& at, std::string const& what) const {
    return Error{Errc::invalid, cat(file, ":", at.begin.line, ":", at.begin.column, ": ", what)};
  }

  Status peers(std::string_view name, toml::node const& node) {
    auto const* const list = node.as_array();
    if (list == nullptr || list->size() > kMaxPeers)
      return wrong(node.source(),
                   cat(name, " must be a list of at most ", kMaxPeers, " addresses"));
    for (auto const& entry : *list) {
      auto const text = entry.value_exact<std::string>();
      if (!text) return wrong(entry.source(), cat(name, ": an address is a text"));
      auto const address = wire::Multiaddr::parse(*text);
      if (!address)
        return wrong(entry.source(), cat(name, " ", *text, ": ", address.error().detail));
      if (!address->peer_id())
        return wrong(entry.source(),
                     cat(name, " ", *text, ": the address must end in /p2p/<PeerID>"));
      config.peers.push_back(*text);
    }
    return ok();
  }

  Result<std::int64_t> number(std::string_view name,
                              toml::node const& node,
                              std::int64_t least,
                              std::int64_t most) const {
    auto const value = node.value_exact<std::int64_t>();
    if (value && *value >= least && *value <= most) return *value;
    return wrong(node.source(), cat(name, " must be a whole number from ", least, " to ", most))
        .error();
  }

  Status boolean(std::string_view name, toml::node const& node, bool& into) const {
    auto const value = node.value_exact<bool>();
    if (!value) return wrong(node.source(), cat(name, " must be true or false"));
    into = *value;
    return ok();
  }

  Status limit(std::string_view name, toml::node const& node, std::int64_t most, int& into) const {
    WAGGLE_TRY(auto const value, number(name, node, 0, most));
    into = static_cast<int>(value);
    return ok();
  }

  // 0, which is none, or what makes sense.
  Status cap(std::string_view name,
             toml::node const& node,
             std::uint64_t least,
             std::uint64_t most,
             std::string_view unit,
             std::uint64_t& into) const {
    auto const value = node.value_exact<std::int64_t>();
    auto const whole = value && *value >= 0 ? static_cast<std::uint64_t>(*value) : most + 1;
    if (whole != 0 && (whole < least || whole > most))
      return wrong(
          node.source(),
          cat(name, " must be 0 or a whole number of ", unit, " from ", least, " to ", most));
    into = whole;
    return ok();
  }

  Status limits_entry(std::string_view name, toml::node const& node) {
    auto& limits = config.limits;
    if (name == "keep_awake") return boolean(name, node, limits.keep_awake);
    if (name == "daily_traffic")
      return cap(name, node, kLeastDailyMib, kMostDailyMib, "MiB", config.guest.daily_traffic);
    if (name == "max_memory")
      return cap(name, node, kLeastMemoryMib, kMostMemoryMib, "MiB", limits.max_memory);
    if (name == "max_gpu_memory")
      return cap(name, node, kLeastMemoryMib, kMostMemoryMib, "MiB", limits.max_gpu_memory);
    if (name == "gpu_power_cap")
      return cap(name, node, kLeastWatts, kMostWatts, "watts", limits.gpu_power_cap);
    if (name == "gpu_duty") {
      WAGGLE_TRY(auto const share, number(name, node, kLeastGpuDuty, kMostPercent));
      limits.gpu_duty = static_cast<int>(share);
      return ok();
    }
    auto& rate = name == "max_upload" ? limits.max_upload : limits.max_download;
    return cap(name, node, net::RateLimit::kLeastRate, kMostRate, "bytes a second", rate);
  }

  Status word(std::string_view name,
              toml::node const& node,
              std::initializer_list<std::string_view> words,
              std::string& into) const {
    auto const value = node.value_exact<std::string>();
    if (value && std::ranges::find(words, *value) != words.end()) {
      into = *value;
      return ok();
    }
    std::string all;
    for (auto const& one : words) all += cat(all.empty() ? "" : " or ", "\"", one, "\"");
    return wrong(node.source(), cat(name, " must be ", all));
  }

  Status team(toml::node const& node) {
    auto const value = node.value_exact<std::string>();
    bool const fits = value && value->size() <= kMaxTeam &&
                      std::ranges::none_of(*value, [](unsigned char c) { return c < 0x20; });
    if (!fits)
      return wrong(node.source(), cat("team must be one line of at most ", kMaxTeam, " bytes"));
    config.team = *value;
    return ok();
  }

  Status trainer(toml::node const& node) {
    auto const value = node.value_exact<std::string>();
    bool const fits =
        value && value->size() <= kMaxPath && (value->empty() || value->front() == '/');
    if (!fits)
      return wrong(node.source(),
                   cat("trainer must be the whole path of a waggle-trainer, from /, of at most ",
                       kMaxPath,
                       " bytes; \"\" is the one that came with Waggle"));
    config.trainer = *value;
    return ok();
  }

  Status window_entry(std::string_view name,
                      toml::source_region const& at,
                      toml::node const& node) {
    auto& window = config.window;
    if (name == "theme") return word(name, node, {"dark", "light"}, window.theme);
    if (name == "language") return word(name, node, {"", "en", "zh"}, window.language);
    if (name == "first_run_done") return boolean(name, node, window.first_run_done);
    if (name == "close_to_tray") return boolean(name, node, window.close_to_tray);
    if (name == "size") {
      auto const size = node.is_number() ? node.value<double>() : std::nullopt;
      if (!size || !(*size >= kSmallestSize && *size <= kLargestSize))
        return wrong(node.source(),
                     cat(name, " must be a number from ", kSmallestSize, " to ", kLargestSize));
      window.size = *size;
      return ok();
    }
    return wrong(at,
                 cat("unknown setting \"",
                     name,
                     "\" in [window]; there are theme, language, size, first_run_done and "
                     "close_to_tray"));
  }

  // Each text of a list, with its place for what is wrong with it.
  template <class F>
  Status texts(std::string_view name, toml::node const& node, F take) const {
    auto const* const list = node.as_array();
    if (list == nullptr || list->size() > kMaxRules)
      return wrong(node.source(), cat(name, " must be a list of at most ", kMaxRules, " texts"));
    for (auto const& entry : *list) {
      auto const text = entry.value_exact<std::string>();
      if (!text) return wrong(entry.source(), cat(name, ": each is a text"));
      Status const taken = take(*text);
      if (!taken) return wrong(entry.source(), cat(name, ": ", taken.error().detail));
    }
    return ok();
  }

  Status guest_entry(std::string_view name, toml::source_region const& at, toml::node const& node) {
    auto& guest = config.guest;
    if (name == "on_battery") return boolean(name, node, guest.on_battery);
    if (name == "on_metered") return boolean(name, node, guest.on_metered);
    if (name == "idle_minutes") return limit(name, node, kMostIdleMinutes, guest.idle_minutes);
    if (name == "gpu_idle_minutes")
      return limit(name, node, kMostIdleMinutes, guest.gpu_idle_minutes);
    if (name == "cpu_load") return limit(name, node, kMostPercent, guest.cpu_load);
    if (name == "temperature") return limit(name, node, kMostCelsius, guest.temperature);
    if (name == "quiet_hours")
      return texts(name, node, [&guest](std::string const& text) -> Status {
        WAGGLE_TRY(auto const hours, device::QuietHours::parse(text));
        guest.quiet_hours.push_back(hours);
        return ok();
      });
    if (name == "programs")
      return texts(name, node, [&guest](std::string const& text) -> Status {
        if (text.empty() || text.size() > kMaxProgramName || text.find('/') != std::string::npos)
          return Error{Errc::invalid, "a program's name, as in \"blender\", without its folder"};
        guest.programs.push_back(text);
        return ok();
      });
    return wrong(
        at,
        cat("unknown setting \"",
            name,
            "\" in [guest]; there are on_battery, on_metered, idle_minutes, gpu_idle_minutes, "
            "cpu_load, temperature, quiet_hours and programs"));
  }

  Status api_host(toml::node const& node) {
    auto const value = node.value_exact<std::string>();
    in6_addr address{};
    bool const fits = value && (::inet_pton(AF_INET, value->c_str(), &address) == 1 ||
                                ::inet_pton(AF_INET6, value->c_str(), &address) == 1);
    if (!fits) return wrong(node.source(), "api_host must be an IP address, as \"127.0.0.1\"");
    config.api_host = *value;
    return ok();
  }

  // What may stand in a Host header.
  static bool is_host_name(std::string_view text) {
    return !text.empty() && text.size() <= kMaxHostName && std::ranges::all_of(text, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             std::string_view(".-_:[]").find(c) != std::string_view::npos;
    });
  }

  Status entry(std::string_view name, toml::source_region const& at, toml::node const& node) {
    if (name == "peer") return peers(name, node);
    if (name == "host") {
      config.host = node.value_exact<std::string>();
      return config.host ? ok() : wrong(node.source(), "host must be a text");
    }
    if (name == "port") {
      WAGGLE_TRY(auto const port, number(name, node, 0, 65535));
      config.port = static_cast<std::uint16_t>(port);
      return ok();
    }
    if (name == "threads") {
      WAGGLE_TRY(auto const threads, number(name, node, 0, kMaxThreads));
      config.threads = static_cast<std::size_t>(threads);
      return ok();
    }
    if (name == "lan") {
      config.lan = node.value_exact<bool>();
      return config.lan ? ok() : wrong(node.source(), "lan must be true or false");
    }
    if (name == "client") {
      config.client = node.value_exact<bool>();
      return config.client ? ok() : wrong(node.source(), "client must be true or false");
    }
    if (name == "power") {
      auto const word = node.value_exact<std::string>();
      auto const level = word ? device::power_level(*word) : std::nullopt;
      if (!level) return wrong(node.source(), "power must be \"light\", \"medium\" or \"full\"");
      config.guest.power = *level;
      return ok();
    }
    if (name == "api_port") {
      WAGGLE_TRY(auto const port, number(name, node, 0, 65535));
      config.api_port = static_cast<std::uint16_t>(port);
      return ok();
    }
    if (name == "api_host") return api_host(node);
    if (name == "api_names") {
      config.api_names.clear();
      return texts(name, node, [this](std::string const& text) -> Status {
        if (!is_host_name(text))
          return Error{Errc::invalid, "a name as in \"box.lan\" or \"box.lan:8642\""};
        config.api_names.push_back(text);
        return ok();
      });
    }
    if (name == "disk_gib") {
      WAGGLE_TRY(auto const gib, number(name, node, kLeastDiskGib, kMostDiskGib));
      config.disk_gib = static_cast<std::uint64_t>(gib);
      return ok();
    }
    if (name == "cpu_share") {
      WAGGLE_TRY(auto const share, number(name, node, kLeastShare, kMostPercent));
      config.cpu_share = static_cast<int>(share);
      return ok();
    }
    // In every build, so that a file may move from one with a release key to one without.
    if (name == "update_notice") return boolean(name, node, config.update_notice);
    if (name == "team") return team(node);
    if (name == "trainer") return trainer(node);
    if (name == "max_download" || name == "max_upload" || name == "daily_traffic" ||
        name == "max_memory" || name == "keep_awake" || name == "gpu_duty" ||
        name == "max_gpu_memory" || name == "gpu_power_cap")
      return limits_entry(name, node);
    if (name == "guest" || name == "window") {
      auto const* const table = node.as_table();
      if (table == nullptr)
        return wrong(node.source(), cat(name, " must be a table: [", name, "]"));
      for (auto const& [key, value] : *table)
        WAGGLE_TRY_STATUS(name == "guest" ? guest_entry(key.str(), key.source(), value)
                                          : window_entry(key.str(), key.source(), value));
      return ok();
    }
    return wrong(
        at,
        cat("unknown setting \"",
            name,
            "\"; there are peer, host, port, lan, threads, client, power, cpu_share, disk_gib, "
            "max_download, max_upload, daily_traffic, max_memory, gpu_duty, max_gpu_memory, "
            "gpu_power_cap, keep_awake, ",
            release_key() ? "update_notice, " : "",
            "team, trainer, api_port, api_host, api_names, [guest] and [window]"));
  }

  Status run(std::string_view text) {
    try {
      auto const root = toml::parse(text, std::string_view{});
      for (auto const& [key, node] : root) WAGGLE_TRY_STATUS(entry(key.str(), key.source(), node));
    } catch (toml::parse_error const& failure) {
      return wrong(failure.source(), std::string(failure.description()));
    } catch (std::exception const& failure) {
      return Error{Errc::invalid, cat(file, ":1:1: ", failure.what())};
    }
    return ok();
  }
};

Config unusable(std::string why) {
  Config config;
  config.trouble = std::move(why);
  return config;
}

}  // namespace

Config parse_config(std::string_view toml, std::string_view file) {
  Reader reader{file, {}};
  auto const read = reader.run(toml);
  if (!read) return unusable(read.error().detail);
  return std::move(reader.config);
}

Config read_config(std::filesystem::path const& data_dir) {
  auto const path = data_dir / "waggle.toml";
  auto const text = read_file(path, kMaxConfigBytes);
  if (text) return parse_config(as_text(*text), path.string());
  if (text.error().code == Errc::not_found) return {};
  return unusable(text.error().detail);
}

}  // namespace waggle::node
