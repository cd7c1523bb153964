// SPDX-License-Identifier: MIT
#include "core/net/tcp.hpp"

#include <algorithm>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "core/base/assert.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/detail/tcp_socket.hpp"

namespace waggle::net {
namespace {

using asio::ip::tcp;

// Whoever waits for a turn looks so often whether the socket was closed or the rate changed.
constexpr Duration kTurnLook = std::chrono::milliseconds(250);

wire::Multiaddr to_multiaddr(tcp::endpoint const& endpoint) {
  auto address = endpoint.address();
  if (address.is_v6()) {
    auto v6 = address.to_v6();
    if (v6.is_v4_mapped())
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, v6);
    else {
      v6.scope_id(0);  // an interface number means nothing elsewhere
      address = v6;
    }
  }
  auto result = wire::Multiaddr::tcp(address.to_string(), endpoint.port());
  WAGGLE_ASSERT(result.has_value(), "a socket's own address does not parse");
  return *std::move(result);
}

}  // namespace

TcpStream::Socket::Socket(Runtime& r, tcp::socket s, std::shared_ptr<SharedTraffic> t)
    : runtime(r), socket(std::move(s)), total(std::move(t)) {
  asio::error_code ec;
  socket.set_option(tcp::no_delay(true), ec);
  socket.set_option(asio::socket_base::keep_alive(true), ec);
  auto const there = socket.remote_endpoint(ec);
  if (!ec) remote = to_multiaddr(there);
  auto const here = socket.local_endpoint(ec);
  if (!ec) local = to_multiaddr(here);
}

namespace {

using Shared = std::shared_ptr<TcpStream::Socket>;

/// What an aborted or failed operation means; nothing if it should begin again.
std::optional<Error> failure(TcpStream::Socket const& s,
                             asio::error_code ec,
                             bool cancelled,
                             bool expired) {
  if (cancelled) return Error{Errc::cancelled, "tcp"};
  if (s.closed) return Error{Errc::closed, "the socket was closed"};
  if (ec != asio::error::operation_aborted) return Error{Errc::closed, ec.message()};
  if (expired) return Error{Errc::timeout, "tcp: the deadline passed"};
  return std::nullopt;
}

Co<Status> wait_turn(Shared s, RateLimit const& limit, RateLimit::Turn turn, TimePoint deadline) {
  for (;;) {
    auto const now = s->runtime.now();
    auto const due = limit.due(turn, now);
    if (due <= now) co_return ok();
    if (s->closed) co_return Error{Errc::closed, "the socket was closed"};
    if (now >= deadline) co_return Error{Errc::timeout, "tcp: the deadline passed"};
    auto const until = std::min({due, deadline, now + kTurnLook});
    auto slept = co_await s->runtime.sleep_until(until);
    if (!slept) co_return slept;
  }
}

Co<Result<std::size_t>> read(Shared s, MutableBytes out, TimePoint deadline) {
  // What was read is owed by the next read, so that no deadline loses bytes that have come.
  auto& limit = s->total->download;
  if (limit.rate() != 0) {
    WAGGLE_CO_TRY_STATUS(co_await wait_turn(s, limit, s->read_turn, deadline));
  }
  out = out.first(std::min(out.size(), limit.piece()));
  Expiry const expiry(s->runtime, deadline, [s] { s->socket.cancel(); });
  for (;;) {
    auto const state_before = co_await asio::this_coro::cancellation_state;
    bool const before = left(state_before);
    if (before) co_return Error{Errc::cancelled, "tcp"};
    if (s->closed) co_return Error{Errc::closed, "the socket was closed"};
    auto const buffer = asio::buffer(out.data(), out.size());
    asio::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    std::size_t const n = co_await s->socket.async_read_some(buffer, token);
    s->own->in += n;
    s->total->in += n;
    s->read_turn = limit.take(n, s->runtime.now());
    if (!ec) co_return n;
    if (ec == asio::error::eof) co_return std::size_t{0};
    auto const state = co_await asio::this_coro::cancellation_state;
    bool const cancelled = left(state);
    if (auto error = failure(*s, ec, cancelled, expiry.expired())) co_return *std::move(error);
  }
}

Co<Status> write_all(Shared s, ByteView in, TimePoint deadline) {
  auto& limit = s->total->upload;
  Expiry const expiry(s->runtime, deadline, [s] { s->socket.cancel(); });
  while (!in.empty()) {
    auto const piece = std::min(in.size(), limit.piece());
    auto const turn = limit.take(piece, s->runtime.now());
    if (limit.rate() != 0) {
      WAGGLE_CO_TRY_STATUS(co_await wait_turn(s, limit, turn, deadline));
    }
    auto const state_before = co_await asio::this_coro::cancellation_state;
    bool const before = left(state_before);
    if (before) co_return Error{Errc::cancelled, "tcp"};
    if (s->closed) co_return Error{Errc::closed, "the socket was closed"};
    auto const buffer = asio::buffer(in.data(), piece);
    asio::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    std::size_t const n = co_await s->socket.async_write_some(buffer, token);
    s->own->out += n;
    s->total->out += n;
    in = in.subspan(n);
    if (!ec) continue;
    auto const state = co_await asio::this_coro::cancellation_state;
    bool const cancelled = left(state);
    if (auto error = failure(*s, ec, cancelled, expiry.expired())) co_return *std::move(error);
  }
  co_return ok();
}

Co<Status> shut(Shared s) {
  asio::error_code ec;
  s->socket.shutdown(tcp::socket::shutdown_send, ec);
  if (ec) co_return Error{Errc::closed, ec.message()};
  co_return ok();
}

}  // namespace

TcpStream::TcpStream(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {
}

TcpStream::~TcpStream() {
  reset();
}

Co<Result<std::size_t>> TcpStream::read_some(MutableBytes out, TimePoint deadline) {
  return read(socket_, out, deadline);
}

Co<Status> TcpStream::write(ByteView in, TimePoint deadline) {
  return write_all(socket_, in, deadline);
}

Co<Status> TcpStream::close_write(TimePoint) {
  return shut(socket_);
}

void TcpStream::reset() noexcept {
  if (std::exchange(socket_->closed, true)) return;
  asio::error_code ec;
  socket_->socket.close(ec);
}

wire::Multiaddr const& TcpStream::remote() const noexcept {
  return socket_->remote;
}

wire::Multiaddr const& TcpStream::local() const noexcept {
  return socket_->local;
}

std::shared_ptr<Traffic const> TcpStream::traffic() const noexcept {
  return socket_->own;
}

std::function<void()> TcpStream::breaker() const {
  return [weak = std::weak_ptr(socket_)] {
    auto const socket = weak.lock();
    if (!socket || std::exchange(socket->closed, true)) return;
    asio::error_code ec;
    socket->socket.close(ec);
  };
}

}  // namespace waggle::net
