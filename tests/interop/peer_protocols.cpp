// SPDX-License-Identifier: MIT
#include "tests/interop/peer_protocols.hpp"

#include <algorithm>

#include "core/base/scope.hpp"
#include "core/net/ping.hpp"
#include "core/wire/varint.hpp"

namespace waggle::interop {
namespace {

using nlohmann::json;

constexpr std::size_t kChunk = 64u << 10;
constexpr Duration kServeTime = std::chrono::minutes(5);

Co<void> echo(Runtime& runtime, net::Incoming incoming) {
  TimePoint const deadline = runtime.now() + kServeTime;
  Bytes buffer(kChunk);
  for (;;) {
    auto const n = co_await incoming.stream->read_some(buffer, deadline);
    if (!n) co_return;
    if (*n == 0) break;
    auto const wrote = co_await incoming.stream->write(ByteView(buffer).first(*n), deadline);
    if (!wrote) co_return;
  }
  (void)co_await incoming.stream->close_write(deadline);
}

Co<void> sink(Runtime& runtime, net::Incoming incoming) {
  TimePoint const deadline = runtime.now() + kServeTime;
  Bytes buffer(4 * kChunk);
  std::uint64_t count = 0;
  for (;;) {
    auto const n = co_await incoming.stream->read_some(buffer, deadline);
    if (!n) co_return;
    if (*n == 0) break;
    count += *n;
  }
  std::array<std::byte, 8> reply;
  store_be(MutableBytes(reply), count);
  auto const wrote = co_await incoming.stream->write(reply, deadline);
  if (wrote) (void)co_await incoming.stream->close_write(deadline);
}

Co<void> source(Runtime& runtime, net::Incoming incoming) {
  TimePoint const deadline = runtime.now() + kServeTime;
  std::array<std::byte, 8> head;
  auto const read = co_await net::read_exactly(*incoming.stream, head, deadline);
  if (!read) co_return;
  auto left = load_be<std::uint64_t>(head);
  Bytes const block(kChunk, std::byte{0xa5});
  while (left > 0) {
    auto const n = std::min<std::uint64_t>(left, block.size());
    auto const wrote = co_await incoming.stream->write(ByteView(block).first(n), deadline);
    if (!wrote) co_return;
    left -= n;
  }
  (void)co_await incoming.stream->close_write(deadline);
}

Co<void> send_blocks(net::Stream& stream,
                     Bytes const& block,
                     std::uint64_t left,
                     TimePoint deadline,
                     Status& outcome) {
  while (left > 0 && outcome) {
    auto const n = std::min<std::uint64_t>(left, block.size());
    outcome = co_await stream.write(ByteView(block).first(n), deadline);
    left -= n;
  }
  if (outcome) outcome = co_await stream.close_write(deadline);
}

// Reads to the end; how much came, and whether it repeats `block`.
Co<Result<std::uint64_t>> receive_blocks(net::Stream& stream,
                                         ByteView block,
                                         bool& same,
                                         TimePoint deadline) {
  Bytes buffer(4 * kChunk);
  std::uint64_t received = 0;
  for (;;) {
    WAGGLE_CO_TRY(auto const n, co_await stream.read_some(buffer, deadline));
    if (n == 0) co_return received;
    for (std::size_t done = 0; done < n;) {
      auto const at = static_cast<std::size_t>((received + done) % block.size());
      auto const m = std::min(block.size() - at, n - done);
      same = same && equal(block.subspan(at, m), ByteView(buffer).subspan(done, m));
      done += m;
    }
    received += n;
  }
}

double ms(Duration d) {
  return static_cast<double>(d.count() / 1000) / 1000.0;
}

Co<Result<json>> exchange(Runtime& runtime,
                          net::Stream& stream,
                          std::string const& protocol,
                          std::uint64_t bytes,
                          TimePoint deadline) {
  json result;
  Bytes block(kChunk);
  runtime.fill_random(block);
  if (protocol == kSource) {
    std::array<std::byte, 8> head;
    store_be(MutableBytes(head), bytes);
    WAGGLE_CO_TRY_STATUS(co_await stream.write(head, deadline));
    std::fill(block.begin(), block.end(), std::byte{0xa5});
    bool same = true;
    WAGGLE_CO_TRY(auto const n, co_await receive_blocks(stream, block, same, deadline));
    WAGGLE_CO_TRY_STATUS(co_await stream.close_write(deadline));
    result["received"] = n;
    result["ok"] = same && n == bytes;
    co_return result;
  }
  Scope scope(runtime);
  Status sent = ok();
  scope.spawn("send", send_blocks(stream, block, bytes, deadline, sent));
  Result<std::uint64_t> received = std::uint64_t{0};
  bool same = true;
  if (protocol == kSink) {
    std::array<std::byte, 8> count;
    auto const read = co_await net::read_exactly(stream, count, deadline);
    if (read)
      received = load_be<std::uint64_t>(count);
    else
      received = read.error();
  } else {
    received = co_await receive_blocks(stream, block, same, deadline);
  }
  co_await scope.close();
  if (!received) co_return received.error();
  result[protocol == kSink ? "counted" : "echoed"] = *received;
  result["ok"] = same && *received == bytes && sent.has_value();
  co_return result;
}

}  // namespace

std::vector<net::Registration> serve_all(net::Host& host) {
  std::vector<net::Registration> all;
  Runtime& runtime = host.runtime();
  all.push_back(
      host.serve(kEcho, [&runtime](net::Incoming i) { return echo(runtime, std::move(i)); }));
  all.push_back(
      host.serve(kSink, [&runtime](net::Incoming i) { return sink(runtime, std::move(i)); }));
  all.push_back(
      host.serve(kSource, [&runtime](net::Incoming i) { return source(runtime, std::move(i)); }));
  return all;
}

Co<Result<json>> run_protocol(
    net::Host& host, PeerId peer, std::string protocol, std::uint64_t bytes, TimePoint deadline) {
  Runtime& runtime = host.runtime();
  TimePoint const start = runtime.now();
  WAGGLE_CO_TRY(auto const stream, co_await host.open(peer, protocol, deadline));
  TimePoint const opened = runtime.now();
  WAGGLE_CO_TRY(auto result, co_await exchange(runtime, *stream, protocol, bytes, deadline));
  Duration const took = runtime.now() - opened;
  result["protocol"] = protocol;
  result["bytes"] = bytes;
  result["openMs"] = ms(opened - start);
  result["ms"] = ms(took);
  result["MiBps"] = static_cast<double>(bytes) / 1048576.0 / to_seconds(took);
  co_return result;
}

Co<Result<json>> run_pings(net::Host& host, PeerId peer, int count, TimePoint deadline) {
  std::vector<double> fresh;
  for (int i = 0; i < count; ++i) {
    WAGGLE_CO_TRY(auto const round_trip, co_await net::ping::measure(host, peer, deadline));
    fresh.push_back(ms(round_trip));
  }
  WAGGLE_CO_TRY(auto const stream, co_await host.open(peer, net::ping::kProtocol, deadline));
  std::vector<double> same;
  for (int i = 0; i < count; ++i) {
    std::array<std::byte, net::ping::kBytes> sent;
    std::array<std::byte, net::ping::kBytes> back;
    host.runtime().fill_random(sent);
    TimePoint const start = host.runtime().now();
    WAGGLE_CO_TRY_STATUS(co_await stream->write(sent, deadline));
    WAGGLE_CO_TRY_STATUS(co_await net::read_exactly(*stream, back, deadline));
    if (sent != back) co_return Error{Errc::malformed, "ping payload differs"};
    same.push_back(ms(host.runtime().now() - start));
  }
  WAGGLE_CO_TRY_STATUS(co_await stream->close_write(deadline));
  json result;
  result["pingNewStreamMs"] = fresh;
  result["pingSameStreamMs"] = same;
  std::sort(same.begin(), same.end());
  result["pingMinMs"] = same.front();
  result["pingMedianMs"] = same[same.size() / 2];
  co_return result;
}

Co<Result<json>> run_find_node(net::Host& host, PeerId peer, PeerId target, TimePoint deadline) {
  constexpr std::size_t kMaxReply = 4u << 20;
  WAGGLE_CO_TRY(auto const stream, co_await host.open(peer, "/ipfs/kad/1.0.0", deadline));
  Bytes request{std::byte{0x08}, std::byte{0x04}, std::byte{0x12}};
  wire::append_varint(request, target.bytes().size());
  append(request, target.bytes());
  WAGGLE_CO_TRY_STATUS(co_await net::write_frame(*stream, request, deadline));
  WAGGLE_CO_TRY(auto const reply, co_await net::read_frame(*stream, kMaxReply, deadline));
  WAGGLE_CO_TRY_STATUS(co_await stream->close_write(deadline));
  json result;
  result["requestHex"] = to_hex(request);
  result["replyBytes"] = reply.size();
  result["replyHex"] = to_hex(reply);
  co_return result;
}

}  // namespace waggle::interop
