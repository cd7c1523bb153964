// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/net/host.hpp"

/// hivemind's remote calls over a Host: framing and dispatch only; what the bytes mean belongs to
/// the module that calls. Source: spec/hivemind-dht.md sections 6 to 8.
///
/// Handlers run in the connection's scope, so one may still run when its Registration ends: what it
/// refers to must live until the host is closed, or be held by the handler (a shared_ptr).
namespace waggle::net::rpc {

constexpr std::size_t kMaxUnaryBytes =
    4u << 20;  ///< hivemind's persistent_conn_max_msg_size; larger is never answered
constexpr std::size_t kMaxStreamItemBytes =
    16u << 20;  ///< ours: hivemind has no limit; a part is about 0.5 MiB

/// One request, one answer. `name` is "DHTProtocol.rpc_ping" or "<prefix>::<Class>.<method>".
/// Errors: refused (the remote handler raised; detail is its text), too_large (the request or the
/// answer is above kMaxUnaryBytes), malformed, and those of Host::open. Being cancelled, or timing
/// out, cancels the remote handler.
[[nodiscard]] Co<Result<Bytes>> call_unary(
    Host& host, PeerId peer, std::string_view name, ByteView request, TimePoint deadline);

/// `request` → answer bytes, or an error whose detail is sent to the caller. Cancelled when the
/// caller leaves.
using UnaryHandler = std::function<Co<Result<Bytes>>(PeerId caller, Bytes request)>;
[[nodiscard]] Registration serve_unary(Host& host, std::string name, UnaryHandler handler);

/// Our end of a streaming call, as caller. Destruction cancels the call.
class ClientCall {
 public:
  [[nodiscard]] static Co<Result<std::unique_ptr<ClientCall>>> open(Host& host,
                                                                    PeerId peer,
                                                                    std::string_view name,
                                                                    TimePoint deadline);
  ~ClientCall();

  /// Sends one item: `head` and `tail` joined (a small message in front of a large span: no copy of
  /// the span).
  [[nodiscard]] Co<Status> send(ByteView head, ByteView tail, TimePoint deadline);

  [[nodiscard]] Co<Status> send(ByteView item, TimePoint deadline) {
    return send(item, {}, deadline);
  }

  /// Sends the end marker. The write side stays open, as the protocol demands.
  [[nodiscard]] Co<Status> finish(TimePoint deadline);
  /// The next answer; an empty optional at the end of answers, for ever after. A timeout loses
  /// nothing: call again. A cut inside an answer is closed, one between two is the end, so
  /// completeness is for the message to tell. Errors: refused (the callee raised), too_large,
  /// closed, timeout.
  [[nodiscard]] Co<Result<std::optional<Bytes>>> receive(TimePoint deadline);
  /// Cancels: both directions end now.
  void reset() noexcept;

  /// So far, with this call's framing, without what the layers below add.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept;
  [[nodiscard]] std::uint64_t bytes_received() const noexcept;

 private:
  struct State;
  explicit ClientCall(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The callee's end of a streaming call. The call ends normally when the handler returns ok.
class ServerCall {
 public:
  virtual ~ServerCall() = default;
  [[nodiscard]] virtual PeerId const& caller() const noexcept = 0;
  /// The next request; an empty optional after the caller's end marker, for ever after.
  /// Errors: closed (cancelled by the caller), too_large, malformed, timeout, cancelled.
  [[nodiscard]] virtual Co<Result<std::optional<Bytes>>> receive(TimePoint deadline) = 0;
  /// Sends one answer, `head` and `tail` joined. Errors: closed, too_large, timeout, cancelled;
  /// then the call is over.
  [[nodiscard]] virtual Co<Status> send(ByteView head, ByteView tail, TimePoint deadline) = 0;
  /// So far, with this call's framing, without what the layers below add.
  [[nodiscard]] virtual std::uint64_t bytes_sent() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes_received() const noexcept = 0;
};

/// An error that the handler returns is sent as the call's failure text. When the caller leaves, a
/// handler that waits in receive() or send() is told (closed); one that waits elsewhere is
/// cancelled.
using StreamHandler = std::function<Co<Status>(ServerCall& call)>;
[[nodiscard]] Registration serve_stream(Host& host, std::string name, StreamHandler handler);

}  // namespace waggle::net::rpc
