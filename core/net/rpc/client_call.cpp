// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "core/net/rpc/detail/io.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::net::rpc {

struct ClientCall::State {
  explicit State(std::unique_ptr<Stream> s) : stream(std::move(s)) {}

  std::unique_ptr<Stream> stream;
  StreamParser parser{kMaxStreamItemBytes};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool write_broken = false;     // a frame may be half out
  bool finished = false;         // the end marker is out
  bool over = false;             // the end of answers was seen
  std::optional<Error> failure;  // of reading, once it has failed for good
};

ClientCall::ClientCall(std::unique_ptr<State> state) : state_(std::move(state)) {
}

ClientCall::~ClientCall() = default;

Co<Result<std::unique_ptr<ClientCall>>> ClientCall::open(Host& host,
                                                         PeerId peer,
                                                         std::string_view name,
                                                         TimePoint deadline) {
  auto opened = co_await host.open(peer, name, deadline);
  if (!opened) co_return std::move(opened).error();
  auto state = std::make_unique<State>(std::move(*opened));
  co_return std::unique_ptr<ClientCall>(new ClientCall(std::move(state)));
}

Co<Status> ClientCall::send(ByteView head, ByteView tail, TimePoint deadline) {
  State& s = *state_;
  if (s.write_broken || s.finished) co_return Error{Errc::closed, "the call's requests have ended"};
  s.write_broken = true;
  auto sent =
      co_await detail::write_item(*s.stream, StreamMarker::message, head, tail, s.sent, deadline);
  s.write_broken = !sent && sent.error().code != Errc::too_large;
  co_return sent;
}

Co<Status> ClientCall::finish(TimePoint deadline) {
  State& s = *state_;
  if (s.finished) co_return ok();
  if (s.write_broken) co_return Error{Errc::closed, "the call's requests have ended"};
  s.finished = true;
  co_return co_await detail::write_item(*s.stream, StreamMarker::end, {}, {}, s.sent, deadline);
}

Co<Result<std::optional<Bytes>>> ClientCall::receive(TimePoint deadline) {
  State& s = *state_;
  if (s.over) co_return std::optional<Bytes>{};
  if (s.failure) co_return *s.failure;
  auto item = co_await detail::read_item(*s.stream, s.parser, s.received, deadline);
  if (!item) {
    bool const again = item.error().code == Errc::timeout || item.error().code == Errc::cancelled;
    if (!again) {
      s.failure = item.error();
      s.stream->reset();
    }
    co_return std::move(item).error();
  }
  if (!*item) {
    s.over = true;
    // Only now may our side end, too: before, it would have cancelled the call.
    (void)co_await s.stream->close_write(deadline);
    co_return std::optional<Bytes>{};
  }
  StreamItem& got = **item;
  if (got.marker == StreamMarker::end) {
    s.failure = Error{Errc::refused, decode_rpc_error(got.body)};
    (void)co_await s.stream->close_write(deadline);
    co_return *s.failure;
  }
  co_return std::optional(std::move(got.body));
}

void ClientCall::reset() noexcept {
  state_->stream->reset();
}

std::uint64_t ClientCall::bytes_sent() const noexcept {
  return state_->sent;
}

std::uint64_t ClientCall::bytes_received() const noexcept {
  return state_->received;
}

}  // namespace waggle::net::rpc
