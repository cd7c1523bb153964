// SPDX-License-Identifier: MIT
// Connections that others begin.
#include "core/base/log.hpp"
#include "core/net/detail/swarm_state.hpp"

namespace waggle::net {

Status Swarm::listen() {
  State& s = *state_;
  if (s.options.listen_host.empty()) return ok();
  Error last{Errc::io, "no port"};
  int const ports = s.options.listen_port == 0 ? 1 : kListenPorts;
  for (int i = 0; i < ports && s.options.listen_port + i <= 65535; ++i) {
    auto const port = static_cast<std::uint16_t>(s.options.listen_port + i);
    auto listener = TcpListener::bind(s.runtime, s.options.listen_host, port, s.total);
    if (!listener) {
      last = std::move(listener).error();
      if (last.code == Errc::invalid) break;
      continue;
    }
    s.listener = *std::move(listener);
    if (i > 0)
      log::info(
          "net", "port ", s.options.listen_port, " is busy, listening on ", s.listener->port());
    s.scope.spawn("accept", s.accept_loop());
    s.changed_protocols_or_addresses();
    return ok();
  }
  return last;
}

std::uint16_t Swarm::listen_port() const noexcept {
  return state_->listener ? state_->listener->port() : std::uint16_t{0};
}

Co<void> Swarm::State::accept_loop() {
  constexpr Duration kPause = std::chrono::milliseconds(100);
  for (;;) {
    auto socket = co_await listener->accept();
    if (!socket) {
      if (socket.error().code != Errc::io) co_return;
      log::warning("net", socket.error().detail);
      auto const slept = co_await runtime.sleep_for(kPause);
      if (!slept) co_return;
      continue;
    }
    // In a flood the oldest is most likely the one that will never finish.
    if (pending.size() >= options.max_pending_inbound) {
      pending.front().abort();
      *pending.front().listed = false;
      pending.pop_front();
    }
    scope.spawn("inbound upgrade", accept_one(*std::move(socket)));
  }
}

Co<void> Swarm::State::accept_one(std::unique_ptr<TcpStream> socket) {
  auto const remote = socket->remote();
  auto traffic = socket->traffic();
  auto const token = std::make_shared<bool>(true);
  auto const entry = pending.insert(pending.end(), Pending{socket->breaker(), token});
  std::unique_ptr<Stream> pipe = std::move(socket);
  auto secured = co_await upgrade(runtime,
                                  std::move(pipe),
                                  NoiseHandshake::Role::responder,
                                  identity,
                                  std::nullopt,
                                  runtime.now() + kUpgradeTime);
  if (*token) pending.erase(entry);
  if (!secured) {
    log::debug("net", "inbound ", remote.text(), ": ", secured.error().detail);
    co_return;
  }
  auto const added = add_connection(*std::move(secured), remote, false, std::move(traffic));
  if (!added) log::debug("net", "inbound ", remote.text(), ": ", added.error().detail);
}

}  // namespace waggle::net
