// SPDX-License-Identifier: MIT
#include "core/base/channel.hpp"
#include "core/base/scope.hpp"
#include "core/net/rpc/detail/io.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::net::rpc {
namespace {

// Requests read ahead of the handler. hivemind stops at 5; ours may be 16 MiB each.
constexpr std::size_t kReadAhead = 2;
constexpr Duration kFailurePatience = std::chrono::seconds(10);

/// A request, nothing (the end marker), or why there are no more.
using Request = Result<std::optional<Bytes>>;

class Call final : public ServerCall {
 public:
  Call(Runtime& runtime, Incoming incoming)
      : runtime_(runtime), incoming_(std::move(incoming)), requests_(runtime, kReadAhead) {}

  PeerId const& caller() const noexcept override { return incoming_.remote; }

  std::uint64_t bytes_sent() const noexcept override { return sent_; }

  std::uint64_t bytes_received() const noexcept override { return received_; }

  Co<Result<std::optional<Bytes>>> receive(TimePoint deadline) override {
    if (ended_) co_return std::optional<Bytes>{};
    if (failure_) co_return *failure_;
    ++inside_;
    auto request = co_await requests_.receive(deadline);
    --inside_;
    if (!request) co_return std::move(request).error();
    if (!*request) {
      failure_ = request->error();
      co_return *failure_;
    }
    ended_ = !(*request)->has_value();
    co_return std::move(*request);
  }

  Co<Status> send(ByteView head, ByteView tail, TimePoint deadline) override {
    if (write_broken_) co_return Error{Errc::closed, "the call is over"};
    write_broken_ = true;
    ++inside_;
    auto sent =
        co_await detail::write_item(stream(), StreamMarker::message, head, tail, sent_, deadline);
    --inside_;
    write_broken_ = !sent && sent.error().code != Errc::too_large;
    co_return sent;
  }

  /// Reads requests until the end marker, then watches the caller until it leaves.
  Co<void> pump(Scope& handler) {
    StreamParser parser(kMaxStreamItemBytes);
    for (bool more = true; more;) {
      auto item = co_await detail::read_item(stream(), parser, received_, kNoDeadline);
      if (!item && item.error().code == Errc::cancelled) co_return;
      if (!item || !*item) {
        auto failure = item ? Error{Errc::closed, "the caller left"} : std::move(item).error();
        co_await give_up(std::move(failure), handler);
        co_return;
      }
      StreamItem& got = **item;
      more = got.marker == StreamMarker::message;
      Request request = more ? std::optional(std::move(got.body)) : std::optional<Bytes>{};
      auto const queued = co_await requests_.send(std::move(request));
      if (!queued) co_return;
    }
    std::array<std::byte, 1> byte{};
    auto const got = co_await stream().read_some(byte, kNoDeadline);
    if (!got && got.error().code == Errc::cancelled) co_return;
    Error left{Errc::closed, "the caller left"};
    co_await give_up(std::move(left), handler);
  }

  /// After a handler that needed no more of them: takes the remaining requests and drops them. The
  /// daemon under a hivemind caller ends both directions at our end of stream; a caller that is
  /// still writing then would lose the answers that it has not read yet.
  Co<void> await_end_marker() {
    TimePoint const deadline = runtime_.now() + kFailurePatience;
    while (!ended_) {
      auto const more = co_await receive(deadline);
      if (!more) co_return;
    }
  }

  /// Sends how it ended, unless the caller has left or a frame may be half out.
  Co<void> finish(Status outcome) {
    if (caller_left_ || write_broken_) co_return;
    TimePoint const deadline = runtime_.now() + kFailurePatience;
    if (!outcome) {
      Bytes const text = encode_rpc_error(outcome.error().detail);
      auto const sent =
          co_await detail::write_item(stream(), StreamMarker::end, text, {}, sent_, deadline);
      if (!sent) co_return;
    }
    auto const closed = co_await stream().close_write(deadline);
    if (!closed) co_return;
    co_await detail::await_end(runtime_, stream());
  }

 private:
  Stream& stream() noexcept { return *incoming_.stream; }

  Co<void> give_up(Error failure, Scope& handler) {
    caller_left_ = true;
    incoming_.stream->reset();
    // In receive() or send() it will be told; anywhere else it would not notice.
    if (inside_ == 0) handler.cancel();
    Request last = std::move(failure);
    (void)co_await requests_.send(std::move(last));
  }

  Runtime& runtime_;
  Incoming incoming_;
  Channel<Request> requests_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  int inside_ = 0;             // the handler waits in this many of our operations
  bool write_broken_ = false;  // a frame may be half out
  bool caller_left_ = false;
  bool ended_ = false;            // the handler has seen the end marker
  std::optional<Error> failure_;  // the handler has seen why there are no more requests
};

Co<void> run_handler(std::shared_ptr<StreamHandler const> handler,
                     Call& call,
                     std::optional<Status>& outcome) {
  auto work = (*handler)(call);
  auto status = co_await std::move(work);
  outcome.emplace(std::move(status));
}

Co<void> serve(std::shared_ptr<StreamHandler const> handler, Runtime& runtime, Incoming incoming) {
  Call call(runtime, std::move(incoming));
  std::optional<Status> outcome;
  Scope handling(runtime);
  Scope reading(runtime);
  handling.spawn("handler", run_handler(handler, call, outcome));
  reading.spawn("requests", call.pump(handling));
  auto const joined = co_await handling.join();
  if (joined && outcome && *outcome) co_await call.await_end_marker();
  co_await reading.close();
  co_await handling.close();
  if (joined && outcome) co_await call.finish(std::move(*outcome));
}

}  // namespace

Registration serve_stream(Host& host, std::string name, StreamHandler handler) {
  auto shared = std::make_shared<StreamHandler const>(std::move(handler));
  Runtime& runtime = host.runtime();
  Handler serve_one = [shared, &runtime](Incoming incoming) {
    return serve(shared, runtime, std::move(incoming));
  };
  return host.serve(std::move(name), std::move(serve_one));
}

}  // namespace waggle::net::rpc
