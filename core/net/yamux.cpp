// SPDX-License-Identifier: MIT
#include "core/net/yamux.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"

namespace waggle::net::yamux {
namespace {

constexpr std::uint8_t kVersion = 0;
constexpr std::uint64_t kMaxCredit =
    0xffff'ffffu;            // the sum of outstanding credit stays below 2^32
constexpr int kKeepsUp = 4;  // round trips in which a window is used up

}  // namespace

void Header::append_to(Bytes& out) const {
  std::array<std::byte, kHeaderBytes> raw;
  MutableBytes const bytes(raw);
  raw[0] = std::byte{kVersion};
  raw[1] = static_cast<std::byte>(type);
  store_be<std::uint16_t>(bytes.subspan(2), flags);
  store_be<std::uint32_t>(bytes.subspan(4), stream);
  store_be<std::uint32_t>(bytes.subspan(8), length);
  append(out, raw);
}

Result<Header> Header::parse(std::span<std::byte const, kHeaderBytes> in) {
  ByteView const bytes(in);
  auto const version = std::to_integer<unsigned>(in[0]);
  auto const type = std::to_integer<unsigned>(in[1]);
  if (version != kVersion) return Error{Errc::malformed, cat("yamux version ", version)};
  if (type > 3) return Error{Errc::malformed, cat("yamux frame type ", type)};
  Header header;
  header.type = static_cast<Type>(type);
  header.flags = load_be<std::uint16_t>(bytes.subspan(2));
  header.stream = load_be<std::uint32_t>(bytes.subspan(4));
  header.length = load_be<std::uint32_t>(bytes.subspan(8));
  return header;
}

Result<Session::Event> Session::on_header(std::span<std::byte const, kHeaderBytes> in, Bytes& out) {
  WAGGLE_TRY(auto const header, Header::parse(in));
  Event event;
  switch (header.type) {
    case Type::data:
    case Type::window_update:
      return on_stream_header(header, out);
    case Type::ping:
      if ((header.flags & kAck) != 0)
        event.pong = header.length;
      else if ((header.flags & kSyn) != 0)
        WAGGLE_TRY_STATUS(reply({Type::ping, kAck, 0, header.length}, out));
      return event;
    case Type::go_away:
      peer_going_ = true;
      event.go_away = static_cast<Reason>(header.length);
      return event;
  }
  return event;
}

Result<Session::Event> Session::on_stream_header(Header const& header, Bytes& out) {
  Event event;
  event.stream = header.stream;
  if (header.type == Type::data) event.body = header.length;
  if ((header.flags & kSyn) != 0) WAGGLE_TRY_STATUS(accept(header.stream, event, out));
  auto const found = streams_.find(header.stream);
  // Frames for a stream that is gone cross with its RST; their bodies are swallowed.
  if (found == streams_.end()) return event;
  Stream& stream = found->second;
  if ((header.flags & kAck) != 0 && stream.ours && !stream.acked) {
    acknowledge(stream);
    event.acked = true;
  }
  if (header.type == Type::data) {
    if (header.length > stream.receive_credit)
      return Error{Errc::malformed,
                   cat("stream ",
                       header.stream,
                       ": ",
                       header.length,
                       " bytes, the window had ",
                       stream.receive_credit)};
    stream.receive_credit -= header.length;
    event.deliver = !stream.peer_finished;
  } else if (header.length > 0) {
    stream.send_credit += header.length;
    if (stream.send_credit > kMaxCredit)
      return Error{Errc::malformed, cat("stream ", header.stream, ": credit above 2^32")};
    event.credit = true;
  }
  if ((header.flags & kFin) != 0 && !stream.peer_finished) {
    event.fin = true;
    stream.peer_finished = true;
    if (stream.finished) forget(header.stream);
  }
  if ((header.flags & kRst) != 0) {
    event.rst = true;
    if (alive(header.stream)) forget(header.stream);  // a FIN beside it may have done so
  }
  return event;
}

Status Session::accept(std::uint32_t stream, Event& event, Bytes& out) {
  if (stream == 0 || is_ours(stream))
    return Error{Errc::malformed,
                 cat("SYN for stream ", stream, ", which is not the peer's to open")};
  if (streams_.contains(stream))
    return Error{Errc::malformed, cat("SYN for stream ", stream, ", which is open")};
  if (inbound_ >= limits_.max_inbound) return reply({Type::window_update, kRst, stream, 0}, out);
  WAGGLE_TRY_STATUS(reply({Type::window_update, kAck, stream, 0}, out));
  streams_.emplace(stream, Stream{});
  ++inbound_;
  event.opened = true;
  return ok();
}

Status Session::reply(Header const& header, Bytes& out) {
  control_bytes_ += kHeaderBytes;
  if (control_bytes_ > limits_.max_control_bytes)
    return Error{
        Errc::too_large,
        cat("more than ", limits_.max_control_bytes, " bytes of replies wait for the peer")};
  header.append_to(out);
  return ok();
}

Result<std::uint32_t> Session::open(Bytes& out) {
  if (peer_going_) return Error{Errc::refused, "the peer is about to close"};
  if (next_id_ > 0xffff'fff0u) return Error{Errc::refused, "stream ids are used up"};
  std::uint32_t const id = next_id_;
  next_id_ += 2;
  Stream stream;
  stream.ours = true;
  streams_.emplace(id, stream);
  ++unacked_;
  Header const header{Type::window_update, kSyn, id, 0};
  header.append_to(out);
  return id;
}

std::uint32_t Session::reserve(std::uint32_t id, std::size_t n, Bytes& out) {
  auto const found = streams_.find(id);
  WAGGLE_ASSERT(found != streams_.end() && !found->second.finished, "data on a closed stream");
  Stream& stream = found->second;
  auto const length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>({n, stream.send_credit, kMaxBody}));
  if (length == 0) return 0;
  stream.send_credit -= length;
  Header const header{Type::data, 0, id, length};
  header.append_to(out);
  return length;
}

std::uint64_t Session::credit(std::uint32_t id) const noexcept {
  auto const found = streams_.find(id);
  return found == streams_.end() ? 0 : found->second.send_credit;
}

void Session::consumed(
    std::uint32_t id, std::size_t n, TimePoint now, Duration round_trip, Bytes& out) {
  auto const found = streams_.find(id);
  if (found == streams_.end() || found->second.peer_finished) return;
  Stream& stream = found->second;
  stream.unread_grant += static_cast<std::uint32_t>(n);
  if (stream.unread_grant < stream.window / 2) return;
  std::uint32_t grant = stream.unread_grant;
  bool const keeps_up =
      stream.last_grant != TimePoint{} && now - stream.last_grant < kKeepsUp * round_trip;
  std::uint32_t const wider = std::min(stream.window * 2, limits_.max_window);
  std::uint32_t const growth = wider > stream.window ? wider - stream.window : 0;
  if (keeps_up && extra_windows_ + growth <= limits_.max_extra_windows) {
    stream.window += growth;
    extra_windows_ += growth;
    grant += growth;
  }
  stream.unread_grant = 0;
  stream.receive_credit += grant;
  stream.last_grant = now;
  Header const header{Type::window_update, 0, id, grant};
  header.append_to(out);
}

void Session::finish(std::uint32_t id, Bytes& out) {
  auto const found = streams_.find(id);
  if (found == streams_.end() || found->second.finished) return;
  found->second.finished = true;
  Header const header{Type::window_update, kFin, id, 0};
  header.append_to(out);
  if (found->second.peer_finished) forget(id);
}

void Session::reset(std::uint32_t id, Bytes& out) {
  if (!streams_.contains(id)) return;
  Header const header{Type::window_update, kRst, id, 0};
  header.append_to(out);
  forget(id);
}

void Session::ping(std::uint32_t value, Bytes& out) {
  Header const header{Type::ping, kSyn, 0, value};
  header.append_to(out);
}

void Session::go_away(Reason reason, Bytes& out) {
  Header const header{Type::go_away, 0, 0, static_cast<std::uint32_t>(reason)};
  header.append_to(out);
}

void Session::acknowledge(Stream& stream) noexcept {
  stream.acked = true;
  --unacked_;
}

void Session::forget(std::uint32_t id) noexcept {
  auto const found = streams_.find(id);
  Stream& stream = found->second;
  if (stream.ours && !stream.acked) acknowledge(stream);
  if (!stream.ours) --inbound_;
  extra_windows_ -= stream.window - kInitialWindow;
  streams_.erase(found);
}

}  // namespace waggle::net::yamux
