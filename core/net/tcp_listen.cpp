// SPDX-License-Identifier: MIT
// Where others come in: the listening socket, and the addresses that this machine has.
#include <cstring>
#include <utility>

#include <asio/ip/v6_only.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <ifaddrs.h>
#include <net/if.h>

#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/tcp_socket.hpp"

namespace waggle::net {

using asio::ip::tcp;

struct TcpListener::Socket {
  Socket(Runtime& r, std::shared_ptr<SharedTraffic> t)
      : runtime(r), acceptor(r.executor()), total(std::move(t)) {}

  Runtime& runtime;
  tcp::acceptor acceptor;
  std::shared_ptr<SharedTraffic> total;
  std::uint16_t port = 0;
  bool closed = false;
};

TcpListener::TcpListener(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {
}

TcpListener::~TcpListener() {
  close();
}

Result<std::unique_ptr<TcpListener>> TcpListener::bind(Runtime& runtime,
                                                       std::string_view host,
                                                       std::uint16_t port,
                                                       std::shared_ptr<SharedTraffic> total) {
  asio::error_code ec;
  auto const address = asio::ip::make_address(std::string(host), ec);
  if (ec) return Error{Errc::invalid, cat("not an address to listen on: ", host)};
  auto socket = std::make_shared<Socket>(runtime, std::move(total));
  tcp::endpoint const endpoint(address, port);
  auto& acceptor = socket->acceptor;
  acceptor.open(endpoint.protocol(), ec);
  if (!ec && address.is_v6()) acceptor.set_option(asio::ip::v6_only(false), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.bind(endpoint, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (!ec) socket->port = acceptor.local_endpoint(ec).port();
  if (ec) return Error{Errc::io, cat("listen on ", host, " port ", port, ": ", ec.message())};
  return std::unique_ptr<TcpListener>(new TcpListener(std::move(socket)));
}

namespace {

// Deduced, because the listener's socket is a private type.
template <class Listening>
Co<Result<std::unique_ptr<TcpStream>>> accept_on(std::shared_ptr<Listening> s) {
  auto const state_before = co_await asio::this_coro::cancellation_state;
  bool const before = left(state_before);
  if (before) co_return Error{Errc::cancelled, "accept"};
  if (s->closed) co_return Error{Errc::closed, "the listener was closed"};
  tcp::socket peer(s->runtime.executor());
  asio::error_code ec;
  auto token = asio::redirect_error(asio::use_awaitable, ec);
  co_await s->acceptor.async_accept(peer, token);
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "accept"};
  if (s->closed) co_return Error{Errc::closed, "the listener was closed"};
  if (ec) co_return Error{Errc::io, cat("accept: ", ec.message())};
  auto shared = std::make_shared<TcpStream::Socket>(s->runtime, std::move(peer), s->total);
  co_return std::make_unique<TcpStream>(std::move(shared));
}

}  // namespace

Co<Result<std::unique_ptr<TcpStream>>> TcpListener::accept() {
  return accept_on(socket_);
}

std::uint16_t TcpListener::port() const noexcept {
  return socket_->port;
}

void TcpListener::close() noexcept {
  if (std::exchange(socket_->closed, true)) return;
  asio::error_code ec;
  socket_->acceptor.close(ec);
}

std::vector<std::string> interface_addresses(bool ip6) {
  std::vector<std::string> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (auto const* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    if (i->ifa_addr->sa_family == AF_INET) {
      auto const* v4 = reinterpret_cast<sockaddr_in const*>(i->ifa_addr);
      found.push_back(asio::ip::address_v4(ntohl(v4->sin_addr.s_addr)).to_string());
    } else if (ip6 && i->ifa_addr->sa_family == AF_INET6) {
      auto const* v6 = reinterpret_cast<sockaddr_in6 const*>(i->ifa_addr);
      asio::ip::address_v6::bytes_type raw;
      std::memcpy(raw.data(), v6->sin6_addr.s6_addr, raw.size());
      asio::ip::address_v6 const address(raw);
      if (!address.is_link_local()) found.push_back(address.to_string());
    }
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace waggle::net
