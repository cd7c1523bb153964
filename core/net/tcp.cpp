// SPDX-License-Identifier: MIT
#include "core/net/tcp.hpp"

#include <algorithm>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <ifaddrs.h>
#include <net/if.h>

#include "core/base/assert.hpp"
#include "core/base/signal.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"

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

/// Ends one pending operation at its deadline. asio can only cancel all of a socket's operations,
/// so the others find themselves aborted without cause and begin again.
class Expiry {
 public:
  template <class Cancel>
  Expiry(Runtime& runtime, TimePoint deadline, Cancel cancel)
      : runtime_(runtime), expired_(std::make_shared<bool>(false)) {
    if (deadline == kNoDeadline) return;
    timer_ = runtime.call_at(deadline, [expired = expired_, cancel = std::move(cancel)] {
      *expired = true;
      cancel();
    });
  }

  ~Expiry() {
    if (timer_ != 0) runtime_.cancel(timer_);
  }

  Expiry(Expiry const&) = delete;
  Expiry& operator=(Expiry const&) = delete;

  [[nodiscard]] bool expired() const noexcept { return *expired_; }

 private:
  Runtime& runtime_;
  std::shared_ptr<bool> expired_;
  Runtime::TimerId timer_ = 0;
};

}  // namespace

struct TcpStream::Socket {
  Socket(Runtime& r, tcp::socket s, std::shared_ptr<SharedTraffic> t)
      : runtime(r), socket(std::move(s)), total(std::move(t)) {
    asio::error_code ec;
    socket.set_option(tcp::no_delay(true), ec);
    socket.set_option(asio::socket_base::keep_alive(true), ec);
    auto const there = socket.remote_endpoint(ec);
    if (!ec) remote = to_multiaddr(there);
    auto const here = socket.local_endpoint(ec);
    if (!ec) local = to_multiaddr(here);
  }

  Runtime& runtime;
  tcp::socket socket;
  std::shared_ptr<SharedTraffic> total;
  std::shared_ptr<Traffic> own = std::make_shared<Traffic>();
  wire::Multiaddr remote;
  wire::Multiaddr local;
  RateLimit::Turn read_turn = 0;  ///< of the bytes that were read last: the next wait for it
  bool closed = false;
};

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

namespace {

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
