// SPDX-License-Identifier: MIT
#include "app/drive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <malloc.h>
#include <nlohmann/json.hpp>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/device/machine.hpp"
#include "core/node/settings/config.hpp"
#include "core/node/settings/settings.hpp"

#include "app/signals.hpp"

namespace waggle::app {
namespace {

// The flags that were given, as waggle.toml would say them.
node::Literals literals(NodeFlags const& flags) {
  node::Literals all;
  if (flags.power) all["power"] = node::toml_text(device::name(*flags.power));
  if (flags.threads) all["threads"] = cat(*flags.threads);
  if (flags.host) all["host"] = node::toml_text(*flags.host);
  if (flags.port) all["port"] = cat(*flags.port);
  if (flags.lan) all["lan"] = *flags.lan ? "true" : "false";
  if (flags.client) all["client"] = "true";
  if (flags.api_port) all["api_port"] = cat(*flags.api_port);
  return all;
}

}  // namespace

Result<node::Options> options_of(Common const& common, NodeFlags const& flags) {
  node::Options options;
  options.data_dir = common.data_dir;
  auto const config = node::read_config(common.data_dir);
  options.listen_host = flags.host.value_or(config.host.value_or(options.listen_host));
  options.port = flags.port.value_or(config.port.value_or(options.port));
  options.lan =
      flags.lan ? *flags.lan : config.lan.value_or(!node::is_loopback(options.listen_host));
  options.client_mode = flags.client || config.client.value_or(false);
  options.guest = config.guest;
  if (flags.power) options.guest.power = *flags.power;
  options.cpu_share = config.cpu_share;
  options.limits = config.limits;
  options.trainer = config.trainer;
  options.flags = literals(flags);
  options.always = flags.always;
  options.threads_wanted = flags.threads.value_or(config.threads.value_or(0));
  options.threads =
      device::effort(
          options.guest.power, device::cores(), static_cast<unsigned>(options.threads_wanted))
          .threads;
  options.api_port = flags.api_port.value_or(config.api_port);
  options.api_host = config.api_host.value_or(options.api_host);
  options.api_names = config.api_names;
  if (config.disk_gib) options.disk_limit = *config.disk_gib << 30;
  // For tests, and for containers that see the host's /sys elsewhere.
  if (char const* const sys = std::getenv("WAGGLE_SYSFS"); sys != nullptr && *sys == '/')
    options.sensors.sys = sys;
  options.version = WAGGLE_VERSION;
  if (!config.trouble.empty())
    options.notices.push_back(
        cat(config.trouble, "; waggle.toml is left as it is and not used until this is right"));
  for (auto const& text : config.peers)
    if (auto address = wire::Multiaddr::parse(text)) options.peers.push_back(*std::move(address));
  for (auto const& text : flags.peers) {
    auto address = wire::Multiaddr::parse(text);
    if (!address) return Error{Errc::invalid, cat("--peer ", text, ": ", address.error().detail)};
    if (!address->peer_id())
      return Error{Errc::invalid, cat("--peer ", text, ": the address must end in /p2p/<PeerID>")};
    options.peers.push_back(*std::move(address));
  }
  return options;
}

void prepare(Common const& common) {
  std::error_code ec;
  std::filesystem::create_directories(common.data_dir / "logs", ec);
  log::start({.to_stderr = common.verbose ? log::Level::debug : log::Level::warning,
              .kept = common.verbose ? log::Level::debug : log::Level::info,
              .file = (common.data_dir / "logs" / "waggle.log").string()});
  signals::catch_interrupts();
  // Large buffers go back to the system when they are freed: a flood leaves no high-water mark.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

namespace {

void first_run_notice(Common const& common) {
  std::error_code ec;
  if (common.json || std::filesystem::exists(common.data_dir / "identity.key", ec)) return;
  std::printf(
      "Other peers will see this machine's network address and a random name, its PeerID, made now "
      "and kept in %s.\n"
      "Nothing else is sent anywhere: there is no server, no account and no telemetry.\n\n",
      common.data_dir.c_str());
}

int report(Common const& common, node::Outcome const& outcome) {
  if (!outcome.choices.empty()) {
    if (common.json)
      std::printf(
          "%s\n",
          nlohmann::json(
              {{"ok", false}, {"message", outcome.error->detail}, {"operators", outcome.choices}})
              .dump()
              .c_str());
    else {
      std::fprintf(stderr, "waggle: %s:\n", outcome.error->detail.c_str());
      for (auto const& id : outcome.choices) std::fprintf(stderr, "  %s\n", id.c_str());
    }
    return kNeedsChoice;
  }
  if (outcome.error && outcome.error->code != Errc::cancelled)
    return fail(common, *outcome.error, outcome.error->code == Errc::invalid ? kUsage : kFailed);
  if (signals::count() > 0) return signals::last_was_term() ? kDone : kInterrupted;
  return kDone;
}

}  // namespace

void add_node_flags(CLI::App& command, NodeFlags& flags) {
  command.add_option(
      "--peer", flags.peers, "An address to begin with, /ip4/…/tcp/…/p2p/…; may be repeated");
  command.add_option("--host", flags.host, "The address to listen on [0.0.0.0]");
  command.add_option(
      "--port",
      flags.port,
      "The port to listen on; 0: the last one, else any; a busy one makes way for the next [0]");
  command.add_option("--threads", flags.threads, "Threads that train; 0: as --power says [0]")
      ->check(CLI::Range(0, 256));
  command
      .add_option_function<std::string>(
          "--power",
          [&flags](std::string const& word) { flags.power = device::power_level(word); },
          "light: a quarter of the cores, half of the time; medium: half of the cores; full: all "
          "[medium]")
      ->check(CLI::IsMember({"light", "medium", "full"}));
  command.add_flag(
      "--always", flags.always, "Compute also on battery and whatever else [guest] says");
  command.add_option("--api-port",
                     flags.api_port,
                     "Serve the API and a web page on 127.0.0.1 too, behind a token (waggle web); "
                     "0: not [0]");
  auto* const lan = command.add_flag_callback(
      "--lan",
      [&flags] { flags.lan = true; },
      "Meet Waggles of the local network without a link [yes, unless --host is the loopback]");
  command
      .add_flag_callback(
          "--no-lan", [&flags] { flags.lan = false; }, "Neither look for them nor answer")
      ->excludes(lan);
  command.add_flag("--client", flags.client, "Accept no connections: ask and compute only");
}

int drive(Common const& common, NodeFlags const& flags, node::Job job) {
  auto options = options_of(common, flags);
  if (!options) return fail(common, options.error(), kUsage);
  first_run_notice(common);
  prepare(common);
  // Events come from the network thread; a line is written at once, so that a reader in a pipe sees
  // it.
  node::EventSink print = [json = common.json](node::Event const& event) {
    auto const& line = json ? event.json : event.text;
    if (line.empty()) return;
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  auto started = node::Node::start(*std::move(options), std::move(job), std::move(print));
  if (!started) return fail(common, started.error());
  auto& node = **started;
  signals::Listener const listener([&common, &node] {
    if (!common.json) std::fprintf(stderr, "finishing the round; once more to leave at once\n");
    node.leave();
  });
  return report(common, node.wait());
}

}  // namespace waggle::app
