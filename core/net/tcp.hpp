// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/rate_limit.hpp"
#include "core/net/stream.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::net {

/// Bytes that crossed sockets.
struct Traffic {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// What all sockets of one owner share: their bytes, and how many a second may pass.
struct SharedTraffic : Traffic {
  RateLimit download;
  RateLimit upload;
};

/// A connected socket. A reset by the peer is an ordinary `closed`, as go-libp2p closes that way.
class TcpStream final : public Stream {
 public:
  struct Socket;
  explicit TcpStream(std::shared_ptr<Socket> socket);
  ~TcpStream() override;

  [[nodiscard]] Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override;
  [[nodiscard]] Co<Status> write(ByteView in, TimePoint deadline) override;
  [[nodiscard]] Co<Status> close_write(TimePoint deadline) override;
  void reset() noexcept override;

  /// /ip4|ip6/HOST/tcp/PORT of the other end, and of ours.
  [[nodiscard]] wire::Multiaddr const& remote() const noexcept;
  [[nodiscard]] wire::Multiaddr const& local() const noexcept;
  /// What went over this socket; stays readable as long as somebody holds it.
  [[nodiscard]] std::shared_ptr<Traffic const> traffic() const noexcept;
  /// Closes the socket as reset() does, and can be kept when the stream was given away.
  [[nodiscard]] std::function<void()> breaker() const;

 private:
  std::shared_ptr<Socket> socket_;
};

/// Connects, with TCP_NODELAY; names are resolved, and each of their addresses tried for at most
/// kConnectTime. `total` counts together with the stream's own Traffic
/// and limits both: what is to wait for its turn waits before it is read or written.
/// Errors: not_found (name), closed (refused, unreachable), io, timeout, cancelled.
[[nodiscard]] Co<Result<std::unique_ptr<TcpStream>>> tcp_dial(Runtime& runtime,
                                                              wire::TcpTarget target,
                                                              std::shared_ptr<SharedTraffic> total,
                                                              TimePoint deadline);
constexpr Duration kConnectTime = std::chrono::seconds(5);  ///< as go-libp2p

/// A listening socket.
class TcpListener {
 public:
  /// `host` is a literal address; "::" takes IPv4 too. Port 0: any.
  /// Errors: io (busy, not permitted), invalid (not an address).
  [[nodiscard]] static Result<std::unique_ptr<TcpListener>> bind(
      Runtime& runtime,
      std::string_view host,
      std::uint16_t port,
      std::shared_ptr<SharedTraffic> total);
  ~TcpListener();

  /// The next connection. Errors: io (out of descriptors: wait a little), closed (by close()),
  /// cancelled.
  [[nodiscard]] Co<Result<std::unique_ptr<TcpStream>>> accept();
  [[nodiscard]] std::uint16_t port() const noexcept;
  void close() noexcept;

 private:
  struct Socket;
  explicit TcpListener(std::shared_ptr<Socket> socket);
  std::shared_ptr<Socket> socket_;
};

/// Literal addresses of this machine's interfaces that are up, loopback included, link-local not.
[[nodiscard]] std::vector<std::string> interface_addresses(bool ip6);

}  // namespace waggle::net
