// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <asio/ip/tcp.hpp>

#include "core/net/tcp.hpp"

namespace waggle::net {

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

/// A connected socket; whoever works on it shares it.
struct TcpStream::Socket {
  Socket(Runtime& r, asio::ip::tcp::socket s, std::shared_ptr<SharedTraffic> t);

  Runtime& runtime;
  asio::ip::tcp::socket socket;
  std::shared_ptr<SharedTraffic> total;
  std::shared_ptr<Traffic> own = std::make_shared<Traffic>();
  wire::Multiaddr remote;
  wire::Multiaddr local;
  RateLimit::Turn read_turn = 0;  ///< of the bytes that were read last: the next wait for it
  bool closed = false;
};

}  // namespace waggle::net
