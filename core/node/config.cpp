// SPDX-License-Identifier: MIT
#include "core/node/config.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/task/strict_toml.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node {
namespace {

constexpr std::uint64_t kMaxConfigBytes = 64u << 10;
constexpr std::int64_t kMaxThreads = 256;
constexpr std::size_t kMaxPeers = 64;

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
    if (name == "client") {
      config.client = node.value_exact<bool>();
      return config.client ? ok() : wrong(node.source(), "client must be true or false");
    }
    return wrong(
        at, cat("unknown setting \"", name, "\"; there are peer, host, port, threads and client"));
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
