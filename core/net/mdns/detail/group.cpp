// SPDX-License-Identifier: MIT
#include "core/net/mdns/detail/group.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/ip/multicast.hpp>
#include <asio/ip/udp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <ifaddrs.h>
#include <net/if.h>

#include "core/base/text.hpp"
#include "core/net/detail/leaving.hpp"
#include "core/net/mdns/message.hpp"

namespace waggle::net::mdns::detail {
namespace {

using asio::ip::udp;
namespace multicast = asio::ip::multicast;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr std::uint16_t kPort = 5353;
constexpr char const* kGroup4 = "224.0.0.251";
constexpr char const* kGroup6 = "ff02::fb";
constexpr int kHops = 255;  // RFC 6762 section 11

udp::endpoint everybody(bool ip6) {
  return {asio::ip::make_address(ip6 ? kGroup6 : kGroup4), kPort};
}

}  // namespace

std::vector<Interface> interfaces(bool loopback) {
  std::vector<Interface> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  std::map<std::string, Interface> by_name;
  for (auto const* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    bool const fits =
        loopback ? (i->ifa_flags & IFF_LOOPBACK) != 0
                 : (i->ifa_flags & IFF_LOOPBACK) == 0 && (i->ifa_flags & IFF_MULTICAST) != 0;
    if (!fits) continue;
    auto& one = by_name[i->ifa_name];
    if (i->ifa_addr->sa_family == AF_INET) {
      auto const* v4 = reinterpret_cast<sockaddr_in const*>(i->ifa_addr);
      one.ip4.push_back(asio::ip::address_v4(ntohl(v4->sin_addr.s_addr)).to_string());
    } else if (i->ifa_addr->sa_family == AF_INET6) {
      auto const* v6 = reinterpret_cast<sockaddr_in6 const*>(i->ifa_addr);
      asio::ip::address_v6::bytes_type raw;
      std::memcpy(raw.data(), v6->sin6_addr.s6_addr, raw.size());
      one.ip6.push_back(asio::ip::address_v6(raw).to_string());
    }
  }
  ::freeifaddrs(all);
  for (auto& [name, one] : by_name) {
    one.index = ::if_nametoindex(name.c_str());
    bool const usable = one.index != 0 && (!one.ip4.empty() || !one.ip6.empty());
    if (usable && found.size() < kMaxInterfaces) found.push_back(std::move(one));
  }
  return found;
}

struct Group::Socket {
  Socket(Runtime& runtime, bool six) : socket(runtime.executor()), ip6(six) {}

  udp::socket socket;
  bool ip6;
  bool closed = false;
  udp::endpoint from;
  Bytes buffer = Bytes(Message::kMaxBytes);
};

Group::Group(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {
}

Group::~Group() {
  close();
}

Result<std::unique_ptr<Group>> Group::open(Runtime& runtime, bool ip6) {
  auto shared = std::make_shared<Socket>(runtime, ip6);
  auto& socket = shared->socket;
  asio::error_code ec;
  socket.open(ip6 ? udp::v6() : udp::v4(), ec);
  if (!ec && ip6) socket.set_option(asio::ip::v6_only(true), ec);
  if (!ec) socket.set_option(udp::socket::reuse_address(true), ec);
  if (!ec) socket.set_option(ReusePort(true), ec);
  if (!ec) socket.set_option(multicast::hops(kHops), ec);
  // Two programs on one machine find each other too.
  if (!ec) socket.set_option(multicast::enable_loopback(true), ec);
  if (!ec) socket.non_blocking(true, ec);
  // On the group's own address, where that goes, nothing arrives that a router passed on.
  auto const any = udp::endpoint(asio::ip::address_v6::any(), kPort);
  if (!ec) socket.bind(ip6 ? any : everybody(false), ec);
  if (ec)
    return Error{Errc::io,
                 cat("multicast DNS, IPv", ip6 ? 6 : 4, ", port ", kPort, ": ", ec.message())};
  return std::unique_ptr<Group>(new Group(std::move(shared)));
}

void Group::join(Interface const& interface) {
  asio::error_code ec;
  if (socket_->ip6) {
    auto const group = asio::ip::make_address_v6(kGroup6);
    if (!interface.ip6.empty())
      socket_->socket.set_option(multicast::join_group(group, interface.index), ec);
  } else if (!interface.ip4.empty()) {
    auto const group = asio::ip::make_address_v4(kGroup4);
    auto const own = asio::ip::make_address_v4(interface.ip4.front(), ec);
    if (!ec) socket_->socket.set_option(multicast::join_group(group, own), ec);
  }
}

void Group::send(Interface const& interface, ByteView bytes) {
  auto& socket = socket_->socket;
  auto const& own = socket_->ip6 ? interface.ip6 : interface.ip4;
  if (own.empty() || socket_->closed) return;
  asio::error_code ec;
  if (socket_->ip6) {
    socket.set_option(multicast::outbound_interface(interface.index), ec);
  } else {
    auto const address = asio::ip::make_address_v4(own.front(), ec);
    if (!ec) socket.set_option(multicast::outbound_interface(address), ec);
  }
  if (!ec) socket.send_to(asio::buffer(bytes.data(), bytes.size()), everybody(socket_->ip6), 0, ec);
}

namespace {

// Deduced, because the socket is a private type.
template <class Shared>
Co<Result<Datagram>> receive_on(Shared s) {
  auto const state_before = co_await asio::this_coro::cancellation_state;
  bool const before = left(state_before);
  if (before) co_return Error{Errc::cancelled, "multicast DNS"};
  if (s->closed) co_return Error{Errc::closed, "the socket was closed"};
  auto const buffer = asio::buffer(s->buffer.data(), s->buffer.size());
  asio::error_code ec;
  auto token = asio::redirect_error(asio::use_awaitable, ec);
  std::size_t const n = co_await s->socket.async_receive_from(buffer, s->from, token);
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "multicast DNS"};
  if (s->closed) co_return Error{Errc::closed, "the socket was closed"};
  if (ec) co_return Error{Errc::closed, ec.message()};
  auto address = s->from.address();
  if (address.is_v6()) {
    auto v6 = address.to_v6();
    v6.scope_id(0);
    address = v6;
  }
  Datagram out{to_bytes(ByteView(s->buffer).first(n)), address.to_string()};
  co_return std::move(out);
}

}  // namespace

Co<Result<Datagram>> Group::receive() {
  return receive_on(socket_);
}

void Group::close() noexcept {
  if (std::exchange(socket_->closed, true)) return;
  asio::error_code ec;
  socket_->socket.close(ec);
}

}  // namespace waggle::net::mdns::detail
