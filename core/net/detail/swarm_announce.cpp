// SPDX-License-Identifier: MIT
// What we tell others about ourselves, and when: our protocols and addresses.
#include "core/net/detail/swarm_state.hpp"

namespace waggle::net {
namespace {

// Handlers come in bursts (a task brings a dozen); one push tells them all.
constexpr Duration kPushDelay = std::chrono::milliseconds(50);
constexpr Duration kRefresh = std::chrono::minutes(10);

}  // namespace

void Swarm::State::changed_protocols_or_addresses() {
  ++version;
  changed.notify_all();
}

std::vector<std::string> Swarm::State::protocols() const {
  std::vector<std::string> names{std::string(identify::kProtocol),
                                 std::string(identify::kPushProtocol)};
  for (auto const& [name, handler] : registry->handlers) names.push_back(name);
  return names;
}

std::vector<wire::Multiaddr> Swarm::State::addresses() const {
  if (!options.announce.empty()) return options.announce;
  std::vector<wire::Multiaddr> all;
  if (listener) {
    std::vector<std::string> hosts{options.listen_host};
    if (options.listen_host == "0.0.0.0") hosts = interface_addresses(false);
    if (options.listen_host == "::") hosts = interface_addresses(true);
    for (auto const& host : hosts)
      if (auto address = wire::Multiaddr::tcp(host, listener->port()))
        all.push_back(*std::move(address));
  }
  all.insert(all.end(), external.begin(), external.end());
  return all;
}

Co<void> Swarm::State::push_loop() {
  for (;;) {
    auto const waited = co_await changed.wait();
    if (!waited) co_return;
    auto const slept = co_await runtime.sleep_for(kPushDelay);
    if (!slept) co_return;
    for (auto const& [peer, all] : connections)
      for (auto const& connection : all) start_push(connection);
  }
}

// Addresses live 30 minutes in the book; those of connected peers are young again every 10.
Co<void> Swarm::State::refresh_loop() {
  for (;;) {
    auto const slept = co_await runtime.sleep_for(kRefresh);
    if (!slept) co_return;
    for (auto const& [peer, all] : connections)
      for (auto const& connection : all)
        if (!connection->addresses.empty()) book.add(peer, connection->addresses, kIdentifiedTtl);
  }
}

}  // namespace waggle::net
