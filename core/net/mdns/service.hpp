// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/scope.hpp"
#include "core/net/host.hpp"
#include "core/net/mdns/discovery.hpp"

namespace waggle::net::mdns {

namespace detail {
class Group;
struct Interface;
}  // namespace detail

/// Tells the local network by multicast DNS where `host` listens, and hears of others there. Asks
/// often at first, then once a minute; answers at most once a second, on each interface with its
/// own addresses alone. Dials nobody. Thread: the network thread.
class Service {
 public:
  static constexpr int kMostASecond = 100;  ///< datagrams read; more wait, and are lost

  /// Told of each peer in each answer, again and again, but never of `host` itself.
  using Found = std::function<void(FoundPeer const& peer)>;

  /// `host` outlives it. `loopback`: within this machine alone, for a host that listens only there.
  Service(Host& host, bool loopback, Found found);
  ~Service();
  /// Begins. Errors: io (neither IP version has a socket for us).
  [[nodiscard]] Status open();
  [[nodiscard]] Co<void> close();

 private:
  [[nodiscard]] Co<void> ask();
  [[nodiscard]] Co<void> answer();
  [[nodiscard]] Co<void> listen(detail::Group& group);
  void take(ByteView bytes, std::string_view from);
  void look_at_interfaces();

  Host& host_;
  bool loopback_;
  Found found_;
  std::string name_;
  std::vector<std::unique_ptr<detail::Group>> groups_;
  std::vector<detail::Interface> interfaces_;
  Signal asked_;
  bool must_answer_ = false;
  Scope scope_;
};

}  // namespace waggle::net::mdns
