// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/runtime.hpp"

namespace waggle::net::mdns::detail {

/// A network interface that is up, with its literal addresses.
struct Interface {
  unsigned index = 0;
  std::vector<std::string> ip4;
  std::vector<std::string> ip6;
};

/// Those that can multicast, or the loopback alone; kMaxInterfaces at most.
[[nodiscard]] std::vector<Interface> interfaces(bool loopback);
constexpr std::size_t kMaxInterfaces = 16;  ///< more: bridges of containers; each costs a datagram

struct Datagram {
  Bytes bytes;
  std::string from;  ///< a literal address, without the interface's name
};

/// A socket in mDNS' multicast group, of one IP version. The port is shared with other programs,
/// as they share it. Thread: the network thread.
class Group {
 public:
  /// Errors: io (the port is another's alone, no such IP version here).
  [[nodiscard]] static Result<std::unique_ptr<Group>> open(Runtime& runtime, bool ip6);
  ~Group();

  /// Hears what is said on an interface; harmless where it does already, or cannot.
  void join(Interface const& interface);
  /// To everybody on an interface, itself included; lost in silence, as datagrams are.
  void send(Interface const& interface, ByteView bytes);
  /// Larger datagrams than Message::kMaxBytes come cut, and do not parse. Errors: closed (by
  /// close(), the network is gone), cancelled.
  [[nodiscard]] Co<Result<Datagram>> receive();
  void close() noexcept;

 private:
  struct Socket;
  explicit Group(std::shared_ptr<Socket> socket);
  std::shared_ptr<Socket> socket_;
};

}  // namespace waggle::net::mdns::detail
