// SPDX-License-Identifier: MIT
#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/rpc/detail/io.hpp"
#include "core/net/rpc/rpc.hpp"
#include "core/net/rpc/unary_frame.hpp"

namespace waggle::net::rpc {
namespace {

// Callers send the request with the selection. Shorter cuts slow lines off, longer lets strangers
// hold streams open.
constexpr Duration kRequestPatience = std::chrono::seconds(60);
constexpr Duration kAnswerPatience = std::chrono::seconds(60);
constexpr std::size_t kMaxErrorText = 1024;

Error named(Error error, std::string_view name, PeerId const& peer) {
  return Error{error.code, cat(name, " of ", crypto::short_text(peer), ": ", error.detail)};
}

struct Service {
  std::string name;
  UnaryHandler handler;
  Runtime& runtime;
};

/// One call as the callee sees it: the handler and the watch over the caller run side by side.
struct Running {
  explicit Running(Runtime& runtime) : changed(runtime) {}

  std::optional<Result<Bytes>> outcome;
  bool caller_left = false;
  Signal changed;
};

Co<void> run_handler(std::shared_ptr<Service const> service,
                     PeerId caller,
                     Bytes request,
                     Running& call) {
  auto work = service->handler(caller, std::move(request));
  auto outcome = co_await std::move(work);
  call.outcome.emplace(std::move(outcome));
  call.changed.notify_all();
}

// The end of stream, a reset and any further byte alike mean that the caller has cancelled.
Co<void> watch(Stream& stream, Running& call) {
  std::array<std::byte, 1> byte{};
  auto const got = co_await stream.read_some(byte, kNoDeadline);
  if (!got && got.error().code == Errc::cancelled) co_return;
  call.caller_left = true;
  call.changed.notify_all();
}

Bytes encode_outcome(Result<Bytes> const& outcome, ByteView call_id) {
  if (!outcome) return encode_error(call_id, utf8_prefix(outcome.error().detail, kMaxErrorText));
  auto answer = encode_response(call_id, *outcome);
  if (answer.size() <= kMaxUnaryBytes) return answer;
  return encode_error(
      call_id, cat("the answer has ", answer.size(), " bytes, allowed are ", kMaxUnaryBytes));
}

Co<void> serve(std::shared_ptr<Service const> service, Incoming incoming) {
  Stream& stream = *incoming.stream;
  Runtime& runtime = service->runtime;
  auto const body = co_await read_frame(stream, kMaxUnaryBytes, runtime.now() + kRequestPatience);
  if (!body) co_return;
  auto const frame = UnaryFrame::decode(*body);
  if (!frame || !frame->call || frame->call_id.size() != CallId{}.size()) co_return;
  // hivemind dispatches by this field and never answers an unknown name.
  if (frame->call->proto != service->name) co_return;
  Bytes const call_id = to_bytes(frame->call_id);

  Running call(runtime);
  {
    Scope scope(runtime);
    Bytes request = to_bytes(frame->call->data);
    scope.spawn("handler", run_handler(service, incoming.remote, std::move(request), call));
    // Most have answered before they ever wait; nobody can leave meanwhile.
    if (!call.outcome) scope.spawn("watch", watch(stream, call));
    bool waiting = true;
    while (waiting && !call.outcome && !call.caller_left) {
      auto const waited = co_await call.changed.wait();
      waiting = waited.has_value();
    }
    co_await scope.close();
    if (!waiting) co_return;
  }
  if (call.caller_left || !call.outcome) co_return;

  Bytes const answer = encode_outcome(*call.outcome, call_id);
  Holding holding(stream);
  holding.set(answer.size());  // a caller that does not read makes us keep it
  TimePoint const deadline = runtime.now() + kAnswerPatience;
  auto const written = co_await write_frame(stream, answer, deadline);
  if (!written) co_return;
  auto const closed = co_await stream.close_write(deadline);
  if (!closed) co_return;
  co_await detail::await_end(runtime, stream);
}

Result<Bytes> take_answer(ByteView body) {
  WAGGLE_TRY(auto const frame, UnaryFrame::decode(body));
  if (!frame.answer) return Error{Errc::malformed, "the answer is none"};
  if (frame.answer->error)
    return Error{Errc::refused, std::string(utf8_prefix(*frame.answer->error, kMaxErrorText))};
  return to_bytes(*frame.answer->response);
}

}  // namespace

Co<Result<Bytes>> call_unary(
    Host& host, PeerId peer, std::string_view name, ByteView request, TimePoint deadline) {
  CallId call_id{};
  host.runtime().fill_random(call_id);
  Bytes const body = encode_call(call_id, peer.bytes(), name, request);
  if (body.size() > kMaxUnaryBytes)
    co_return Error{
        Errc::too_large,
        cat(name, ": a request of ", body.size(), " bytes, allowed are ", kMaxUnaryBytes)};
  auto opened = co_await host.open(peer, name, deadline);
  if (!opened) co_return std::move(opened).error();
  auto const stream = std::move(*opened);
  auto written = co_await write_frame(*stream, body, deadline);
  if (!written) co_return named(std::move(written).error(), name, peer);
  // The write side stays open until the answer is here: its end would cancel the call.
  auto const frame = co_await read_frame(*stream, kMaxUnaryBytes, deadline);
  if (!frame) co_return named(frame.error(), name, peer);
  auto answer = take_answer(*frame);
  (void)co_await stream->close_write(deadline);
  if (!answer && answer.error().code != Errc::refused)
    co_return named(std::move(answer).error(), name, peer);
  co_return answer;
}

Registration serve_unary(Host& host, std::string name, UnaryHandler handler) {
  auto service = std::make_shared<Service const>(Service{name, std::move(handler), host.runtime()});
  Handler serve_one = [service](Incoming incoming) { return serve(service, std::move(incoming)); };
  return host.serve(std::move(name), std::move(serve_one));
}

}  // namespace waggle::net::rpc
