// SPDX-License-Identifier: MIT
// From a name to a connected socket.
#include <algorithm>
#include <utility>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "core/base/signal.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/tcp_socket.hpp"

namespace waggle::net {
namespace {

using asio::ip::tcp;

struct Lookup {
  explicit Lookup(Runtime& runtime) : resolver(runtime.executor()), done(runtime) {}

  tcp::resolver resolver;
  Signal done;
  bool finished = false;
  std::vector<tcp::endpoint> found;
  std::string problem;
};

bool wanted(wire::TcpTarget::Kind kind, tcp::endpoint const& endpoint) {
  using Kind = wire::TcpTarget::Kind;
  if (kind == Kind::dns4) return endpoint.address().is_v4();
  if (kind == Kind::dns6) return endpoint.address().is_v6();
  return true;
}

// What "localhost" stands for (RFC 6761), also where no /etc/hosts says so.
std::vector<tcp::endpoint> loopback(wire::TcpTarget::Kind kind, std::uint16_t port) {
  std::vector<tcp::endpoint> all;
  for (auto const& version : {tcp::v4(), tcp::v6()}) {
    auto const address = version == tcp::v4() ? asio::ip::address(asio::ip::address_v4::loopback())
                                              : asio::ip::address(asio::ip::address_v6::loopback());
    tcp::endpoint const endpoint(address, port);
    if (wanted(kind, endpoint)) all.push_back(endpoint);
  }
  return all;
}

// A callback and a Signal in place of the awaitable form: the resolver works in a thread that can
// not be interrupted, but whoever waits for it must be able to leave at once.
Co<Result<std::vector<tcp::endpoint>>> resolve(Runtime& runtime,
                                               wire::TcpTarget target,
                                               TimePoint deadline) {
  using Endpoints = std::vector<tcp::endpoint>;
  asio::error_code ec;
  auto const literal = asio::ip::make_address(target.host, ec);
  if (!ec) {
    Endpoints one;
    one.emplace_back(literal, target.port);
    co_return one;
  }
  if (target.host == "localhost") co_return loopback(target.kind, target.port);
  auto const lookup = std::make_shared<Lookup>(runtime);
  lookup->resolver.async_resolve(
      target.host,
      std::to_string(target.port),
      [lookup, kind = target.kind](asio::error_code failed, tcp::resolver::results_type all) {
        lookup->finished = true;
        if (failed) lookup->problem = failed.message();
        for (auto const& entry : all)
          if (wanted(kind, entry.endpoint())) lookup->found.push_back(entry.endpoint());
        lookup->done.notify_all();
      });
  while (!lookup->finished) {
    auto waited = co_await lookup->done.wait(deadline);
    if (!waited) {
      lookup->resolver.cancel();
      co_return std::move(waited).error();
    }
  }
  if (lookup->found.empty())
    co_return Error{Errc::not_found, cat("no address of ", target.host, " ", lookup->problem)};
  co_return std::move(lookup->found);
}

Co<Result<tcp::socket>> connect(Runtime& runtime, tcp::endpoint endpoint, TimePoint deadline) {
  auto const socket = std::make_shared<tcp::socket>(runtime.executor());
  auto const state_before = co_await asio::this_coro::cancellation_state;
  bool const before = left(state_before);
  if (before) co_return Error{Errc::cancelled, "tcp"};
  asio::error_code opened;
  socket->open(endpoint.protocol(), opened);
  if (opened) co_return Error{Errc::io, cat("socket: ", opened.message())};
  Expiry const expiry(runtime, deadline, [socket] {
    asio::error_code ignored;
    socket->close(ignored);
  });
  asio::error_code ec;
  auto token = asio::redirect_error(asio::use_awaitable, ec);
  co_await socket->async_connect(endpoint, token);
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "tcp"};
  if (expiry.expired()) co_return Error{Errc::timeout, "tcp: the deadline passed"};
  if (ec) co_return Error{Errc::closed, ec.message()};
  co_return std::move(*socket);
}

}  // namespace

Co<Result<std::unique_ptr<TcpStream>>> tcp_dial(Runtime& runtime,
                                                wire::TcpTarget target,
                                                std::shared_ptr<SharedTraffic> total,
                                                TimePoint deadline) {
  WAGGLE_CO_TRY(auto const endpoints, co_await resolve(runtime, target, deadline));
  Error last{Errc::not_found, "no address"};
  for (auto const& endpoint : endpoints) {
    TimePoint const until = std::min(deadline, runtime.now() + kConnectTime);
    auto socket = co_await connect(runtime, endpoint, until);
    if (socket) {
      auto shared =
          std::make_shared<TcpStream::Socket>(runtime, *std::move(socket), std::move(total));
      co_return std::make_unique<TcpStream>(std::move(shared));
    }
    last = std::move(socket).error();
    if (last.code == Errc::cancelled || runtime.now() >= deadline) break;
  }
  last.detail = cat(target.host, " port ", target.port, ": ", last.detail);
  co_return std::move(last);
}

}  // namespace waggle::net
