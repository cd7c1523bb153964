// SPDX-License-Identifier: MIT
// Our Swarm, driven from the command line as tests/interop/js/peer.mjs is, with the same JSON
// lines.
//
//   interop_peer listen [--port N] [--host H]
//   interop_peer dial MULTIADDR [--protocol P --bytes N] [--ping [--count N]] [--identify]
//                               [--find-node PEERID] [--timeout MS]
//   both: [--key-seed HEX32 | --key-hex HEX]
#include <csignal>
#include <cstdio>
#include <map>

#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/address_book.hpp"
#include "core/net/kad/service.hpp"
#include "core/net/swarm.hpp"

#include "tests/interop/peer_protocols.hpp"

using namespace waggle;
using nlohmann::json;

namespace {

struct Arguments {
  std::string command;
  std::string target;
  std::map<std::string, std::string> options;

  [[nodiscard]] bool has(std::string const& name) const { return options.contains(name); }

  [[nodiscard]] std::string get(std::string const& name, std::string fallback) const {
    auto const found = options.find(name);
    return found == options.end() ? std::move(fallback) : found->second;
  }
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    bool const flag = word == "--ping" || word == "--identify";
    if (word.rfind("--", 0) == 0) {
      bool const valued = !flag && i + 1 < argc;
      arguments.options[word.substr(2)] = valued ? argv[++i] : "";
    } else if (arguments.command.empty()) {
      arguments.command = word;
    } else {
      arguments.target = word;
    }
  }
  return arguments;
}

void print(json const& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

json failure(Error const& error) {
  return {{"ok", false}, {"error", name(error.code)}, {"message", error.detail}};
}

Result<crypto::Identity> load_identity(Arguments const& arguments) {
  if (arguments.has("key-hex")) {
    WAGGLE_TRY(auto const key, from_hex(arguments.get("key-hex", "")));
    return crypto::Identity::from_protobuf(key);
  }
  if (arguments.has("key-seed")) {
    WAGGLE_TRY(auto const seed, from_hex(arguments.get("key-seed", "")));
    if (seed.size() != 32) return Error{Errc::invalid, "--key-seed wants 32 bytes in hex"};
    return crypto::Identity::from_seed(ByteView(seed).first<32>());
  }
  return crypto::Identity::generate();
}

/// All that a peer consists of here.
struct Peer {
  Peer(Runtime& r, crypto::Identity const& identity, net::SwarmOptions options)
      : runtime(r), book(r), swarm(r, identity, book, std::move(options)), kad(swarm, book) {
    swarm.set_peer_routing(&kad);
    swarm.on_identified([this](PeerId const& peer, auto const& protocols, auto const& addresses) {
      kad.identified(peer, protocols, addresses);
    });
    swarm.on_connection([this](PeerId const& peer, bool connected) {
      if (!connected) kad.disconnected(peer);
    });
    serving = interop::serve_all(swarm);
  }

  Runtime& runtime;
  net::AddressBook book;
  net::Swarm swarm;
  net::kad::Service kad;
  std::vector<net::Registration> serving;
};

std::vector<std::string> texts(Peer const& peer) {
  std::vector<std::string> all;
  for (auto const& address : peer.swarm.addresses())
    all.push_back(address.with_peer_id(peer.swarm.self()).text());
  return all;
}

Co<Result<json>> identify(Peer& peer, PeerId remote, TimePoint deadline) {
  for (;;) {
    for (auto const& info : peer.swarm.peers())
      if (info.id == remote && !info.protocols.empty()) {
        std::vector<std::string> addresses;
        for (auto const& address : peer.book.addresses(remote)) addresses.push_back(address.text());
        json said{{"agentVersion", info.agent},
                  {"protocols", info.protocols},
                  {"listenAddrs", addresses}};
        for (auto const& [observed, votes] : peer.swarm.observed_addresses())
          said["observedAddr"] = observed.text();
        co_return said;
      }
    if (peer.runtime.now() >= deadline) co_return Error{Errc::timeout, "identify did not come"};
    WAGGLE_CO_TRY_STATUS(co_await peer.runtime.sleep_for(std::chrono::milliseconds(10)));
  }
}

Co<Result<json>> dial(Peer& peer, Arguments arguments) {
  auto const timeout = std::chrono::milliseconds(std::stoll(arguments.get("timeout", "20000")));
  WAGGLE_CO_TRY(auto const address, wire::Multiaddr::parse(arguments.target));
  TimePoint const start = peer.runtime.now();
  WAGGLE_CO_TRY(auto const remote, co_await peer.swarm.dial(address, start + timeout));
  json result{{"ok", true},
              {"target", arguments.target},
              {"peerId", crypto::to_text(peer.swarm.self())},
              {"remotePeer", crypto::to_text(remote)},
              {"dialMs", to_seconds(peer.runtime.now() - start) * 1e3}};
  TimePoint const deadline = peer.runtime.now() + std::chrono::minutes(4);
  if (arguments.has("identify")) {
    TimePoint const until = peer.runtime.now() + std::chrono::seconds(5);
    WAGGLE_CO_TRY(result["identify"], co_await identify(peer, remote, until));
  }
  if (arguments.has("ping")) {
    int const count = std::stoi(arguments.get("count", "5"));
    WAGGLE_CO_TRY(auto const pings,
                  co_await interop::run_pings(peer.swarm, remote, count, deadline));
    result.update(pings);
  }
  if (arguments.has("find-node")) {
    WAGGLE_CO_TRY(auto const target, crypto::parse_peer_id(arguments.get("find-node", "")));
    WAGGLE_CO_TRY(result["closest"],
                  co_await interop::run_find_node(peer.swarm, remote, target, deadline));
  }
  if (arguments.has("protocol")) {
    auto const protocol = arguments.get("protocol", "");
    auto const bytes = std::stoull(arguments.get("bytes", "1048576"));
    WAGGLE_CO_TRY(auto const said,
                  co_await interop::run_protocol(peer.swarm, remote, protocol, bytes, deadline));
    result.update(said);
  }
  co_return result;
}

volatile std::sig_atomic_t stopped = 0;

Co<void> wait_for_signal(Runtime& runtime) {
  while (stopped == 0) {
    auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(50));
    if (!slept) co_return;
  }
}

Co<void> run(Runtime& runtime, crypto::Identity const& identity, Arguments arguments, int& status) {
  net::SwarmOptions options;
  options.agent = "waggle/interop";
  options.listen_host = arguments.command == "listen" ? arguments.get("host", "127.0.0.1") : "";
  options.listen_port = static_cast<std::uint16_t>(std::stoi(arguments.get("port", "0")));
  Peer peer(runtime, identity, options);
  if (auto const listening = peer.swarm.listen(); !listening) {
    print(failure(listening.error()));
    status = 1;
  } else if (arguments.command == "listen") {
    json line;
    line["peerId"] = crypto::to_text(peer.swarm.self());
    line["addrs"] = texts(peer);
    print(line);
    co_await wait_for_signal(runtime);
  } else {
    auto const result = co_await dial(peer, std::move(arguments));
    json const line = result ? *result : failure(result.error());
    print(line);
    status = line["ok"] == true ? 0 : 1;
  }
  co_await peer.kad.close();
  co_await peer.swarm.close();
}

}  // namespace

int main(int argc, char** argv) {
  auto arguments = parse(argc, argv);
  bool const dials = arguments.command == "dial" && !arguments.target.empty();
  if (!dials && arguments.command != "listen") {
    std::fprintf(stderr, "usage: interop_peer listen | dial MULTIADDR …; see peer.cpp\n");
    return 2;
  }
  auto const identity = load_identity(arguments);
  if (!identity) {
    print(failure(identity.error()));
    return 1;
  }
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::signal(SIGINT, [](int) { stopped = 1; });
  SystemRuntime runtime;
  int status = 0;
  Scope scope(runtime);
  scope.spawn("main", run(runtime, *identity, std::move(arguments), status));
  runtime.run_to_completion();
  return status;
}
