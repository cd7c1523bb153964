// SPDX-License-Identifier: MIT
#include "core/net/rpc/rpc.hpp"

#include <array>

#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/net/rpc/stream_frame.hpp"
#include "core/net/rpc/unary_frame.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

using namespace waggle;
using namespace waggle::net;
using namespace std::chrono_literals;

namespace {

/// Two hosts 50 ms apart; the second serves, the first calls.
struct Pair {
  Pair() : network(world, links()), caller(network, sim::peer(1)), callee(network, sim::peer(2)) {}

  ~Pair() { world.run(close_both(caller, callee)); }

  static sim::Links links() {
    sim::Links links;
    links.latency = [](std::uint32_t, std::uint32_t) { return 50ms; };
    return links;
  }

  static Co<void> close_both(sim::MemoryHost& a, sim::MemoryHost& b) {
    co_await a.close();
    co_await b.close();
  }

  [[nodiscard]] TimePoint soon(Duration d = 3s) const { return world.now() + d; }

  sim::World world{11};
  sim::MemoryNetwork network;
  sim::MemoryHost caller;
  sim::MemoryHost callee;
};

constexpr char const* kName = "Test.rpc_echo";

Co<Result<Bytes>> echo(PeerId caller, Bytes request) {
  Bytes answer = to_bytes(caller.bytes());
  append(answer, request);
  co_return answer;
}

Co<Result<Bytes>> raise(PeerId, Bytes) {
  co_return Error{Errc::invalid, "ValueError('bad')"};
}

Co<Result<Bytes>> enormous(PeerId, Bytes) {
  co_return Bytes(rpc::kMaxUnaryBytes);
}

Co<Result<Bytes>> slow(Runtime& runtime, std::string& story) {
  auto slept = co_await runtime.sleep_for(1h);
  story = slept ? "slept" : std::string(name(slept.error().code));
  if (!slept) co_return std::move(slept).error();
  co_return Bytes{};
}

Co<void> call(Host& host,
              PeerId peer,
              Bytes request,
              Duration patience,
              std::optional<Result<Bytes>>& result) {
  auto got = co_await rpc::call_unary(host, peer, kName, request, host.runtime().now() + patience);
  result.emplace(std::move(got));
}

std::optional<Result<Bytes>> unary(Pair& pair, Bytes request, Duration patience = 3s) {
  std::optional<Result<Bytes>> result;
  pair.world.run(call(pair.caller, pair.callee.self(), std::move(request), patience, result));
  return result;
}

}  // namespace

TEST_CASE("a unary call carries the request there and the answer back, empty ones too") {
  Pair pair;
  auto const serving = rpc::serve_unary(pair.callee, kName, echo);
  for (std::string const request : {"hello", ""}) {
    auto const result = unary(pair, to_bytes(request));
    REQUIRE(*result);
    Bytes expected = to_bytes(pair.caller.self().bytes());
    append(expected, as_bytes(request));
    CHECK(**result == expected);
  }
}

TEST_CASE("what the handler raises reaches the caller as its text") {
  Pair pair;
  auto const serving = rpc::serve_unary(pair.callee, kName, raise);
  auto const result = unary(pair, {});
  REQUIRE(!*result);
  CHECK(result->error().code == Errc::refused);
  CHECK(result->error().detail == "ValueError('bad')");
}

TEST_CASE("a request above the limit never leaves, an answer above it comes back as a failure") {
  Pair pair;
  auto const serving = rpc::serve_unary(pair.callee, kName, enormous);
  auto const request = unary(pair, Bytes(rpc::kMaxUnaryBytes));
  REQUIRE(!*request);
  CHECK(request->error().code == Errc::too_large);
  CHECK(pair.caller.bytes_sent() == 0);
  auto const answer = unary(pair, {});
  REQUIRE(!*answer);
  CHECK(answer->error().code == Errc::refused);
}

TEST_CASE("nobody serving is refused, nobody answering a timeout that cancels the handler") {
  Pair pair;
  auto const refused = unary(pair, {});
  REQUIRE(!*refused);
  CHECK(refused->error().code == Errc::refused);

  std::string story;
  auto const serving =
      rpc::serve_unary(pair.callee, kName, [&](PeerId, Bytes) { return slow(pair.world, story); });
  auto const late = unary(pair, {});
  REQUIRE(!*late);
  CHECK(late->error().code == Errc::timeout);
  pair.world.run_for(1s);
  CHECK(story == "cancelled");
}

namespace {

enum class Leaving { end, reset, further_byte };

Co<void> leave(Pair& pair, Leaving how, Bytes& answer) {
  auto opened = co_await pair.caller.open(pair.callee.self(), kName, pair.soon());
  auto const stream = std::move(*opened);
  Bytes const call_id(16);
  Bytes const body = rpc::encode_call(call_id, pair.callee.self().bytes(), kName, {});
  (void)co_await write_frame(*stream, body, pair.soon());
  if (how == Leaving::end) (void)co_await stream->close_write(pair.soon());
  if (how == Leaving::reset) stream->reset();
  if (how == Leaving::further_byte) (void)co_await stream->write(call_id, pair.soon());
  auto got = co_await read_to_end(*stream, 1000, pair.soon());
  if (got) answer = *got;
}

Co<void> raw(Pair& pair, Bytes sent, Result<Bytes>& answer) {
  auto opened = co_await pair.caller.open(pair.callee.self(), kName, pair.soon());
  auto const stream = std::move(*opened);
  (void)co_await stream->write(sent, pair.soon());
  auto got = co_await read_to_end(*stream, 1000, pair.soon(200s));
  answer = std::move(got);
}

}  // namespace

TEST_CASE("end of stream, reset or a further byte cancel the handler, and no answer comes") {
  for (auto const how : {Leaving::end, Leaving::reset, Leaving::further_byte}) {
    Pair pair;
    std::string story;
    auto const serving = rpc::serve_unary(
        pair.callee, kName, [&](PeerId, Bytes) { return slow(pair.world, story); });
    Bytes answer;
    pair.world.run(leave(pair, how, answer));
    pair.world.run_for(1s);
    CHECK(story == "cancelled");
    CHECK(answer.empty());
  }
}

TEST_CASE("hostile unary requests are never answered") {
  Pair pair;
  auto const serving = rpc::serve_unary(pair.callee, kName, echo);
  Bytes const id(16);
  auto const peer = to_bytes(pair.callee.self().bytes());
  auto const framed = [](Bytes body) {
    Bytes out;
    for (auto n = body.size();; n >>= 7) {
      out.push_back(static_cast<std::byte>((n & 0x7f) | (n > 0x7f ? 0x80 : 0)));
      if (n <= 0x7f) break;
    }
    append(out, body);
    return out;
  };
  Bytes cut = framed(rpc::encode_call(id, peer, kName, {}));
  cut.pop_back();
  std::vector<Bytes> const hostile{framed(rpc::encode_call(id, peer, "Other.rpc_echo", {})),
                                   framed(rpc::encode_call(Bytes(15), peer, kName, {})),
                                   framed(rpc::encode_call(Bytes(17), peer, kName, {})),
                                   framed(rpc::encode_response(id, {})),
                                   framed({}),
                                   framed(Bytes(100)),
                                   *from_hex("ffffffffffffffff7f"),
                                   *from_hex("8180800200"),
                                   cut};
  for (auto const& bytes : hostile) {
    Result<Bytes> answer = Bytes{};
    TimePoint const start = pair.world.now();
    pair.world.run(raw(pair, bytes, answer));
    CHECK((!answer || answer->empty()));
    CHECK(pair.world.now() - start < 70s);
  }
  auto const fine = unary(pair, {});
  CHECK(*fine);
}

namespace {

constexpr char const* kStream = "Test.rpc_stream";

/// Answers each item reversed in order of coming, then says how it ended.
Co<Status> stream_echo(rpc::ServerCall& call) {
  for (;;) {
    WAGGLE_CO_TRY(auto item, co_await call.receive(kNoDeadline));
    if (!item) break;
    std::size_t const half = item->size() / 2;
    ByteView const all(*item);
    WAGGLE_CO_TRY_STATUS(co_await call.send(all.first(half), all.subspan(half), kNoDeadline));
  }
  co_return ok();
}

Co<Status> stream_raise(rpc::ServerCall& call) {
  (void)co_await call.receive(kNoDeadline);
  (void)co_await call.send(as_bytes("one"), {}, kNoDeadline);
  co_return Error{Errc::refused, "boom"};
}

Co<Status> stream_story(rpc::ServerCall& call, Runtime& runtime, bool receive, std::string& story) {
  std::optional<Errc> code;
  if (receive) {
    auto got = co_await call.receive(kNoDeadline);
    if (!got) code = got.error().code;
  } else {
    auto got = co_await runtime.sleep_for(1h);
    if (!got) code = got.error().code;
  }
  story = code ? std::string(name(*code)) : "nothing";
  co_return ok();
}

Co<void> send_all(rpc::ClientCall& call, std::vector<Bytes> const& items, Runtime& runtime) {
  for (auto const& item : items) (void)co_await call.send(item, runtime.now() + 60s);
  (void)co_await call.finish(runtime.now() + 60s);
}

Co<void> stream_through(Pair& pair,
                        std::vector<Bytes> items,
                        std::vector<Bytes>& answers,
                        std::string& end,
                        std::array<std::uint64_t, 2>& counts) {
  auto opened =
      co_await rpc::ClientCall::open(pair.caller, pair.callee.self(), kStream, pair.soon());
  if (!opened) co_return;
  auto const call = std::move(*opened);
  Scope scope(pair.world);
  scope.spawn("send", send_all(*call, items, pair.world));
  for (;;) {
    auto got = co_await call->receive(pair.soon(60s));
    if (!got || !*got) {
      end = got ? "end" : cat(name(got.error().code), ": ", got.error().detail);
      break;
    }
    answers.push_back(std::move(**got));
  }
  auto again = co_await call->receive(pair.soon());
  if (end == "end" && (!again || *again)) end = "not twice";
  co_await scope.close();
  counts = {call->bytes_sent(), call->bytes_received()};
}

}  // namespace

TEST_CASE("a streaming call carries items of all sizes both ways and counts their bytes") {
  Pair pair;
  auto const serving = rpc::serve_stream(pair.callee, kStream, stream_echo);
  std::vector<Bytes> items{
      Bytes{}, to_bytes("x"), Bytes(100'000), Bytes(3'000'000), Bytes(16u << 10)};
  for (auto& item : items) pair.world.fill_random(item);
  std::vector<Bytes> answers;
  std::string end;
  std::array<std::uint64_t, 2> counts{};
  pair.world.run(stream_through(pair, items, answers, end, counts));
  CHECK(answers == items);
  CHECK(end == "end");
  std::uint64_t const payload = 1 + 100'000 + 3'000'000 + (16u << 10);
  CHECK(counts[0] == payload + 6 * 9);
  CHECK(counts[1] == payload + 5 * 9);
}

TEST_CASE("a streaming handler's error comes after what it sent") {
  Pair pair;
  auto const serving = rpc::serve_stream(pair.callee, kStream, stream_raise);
  std::vector<Bytes> answers;
  std::string end;
  std::array<std::uint64_t, 2> counts{};
  pair.world.run(stream_through(pair, {Bytes(1)}, answers, end, counts));
  CHECK(answers == std::vector<Bytes>{to_bytes("one")});
  CHECK(end == "refused: boom");
}

namespace {

Co<void> open_and_leave(Pair& pair, bool finish) {
  auto opened =
      co_await rpc::ClientCall::open(pair.caller, pair.callee.self(), kStream, pair.soon());
  auto const call = std::move(*opened);
  if (finish) (void)co_await call->finish(pair.soon());
  (void)co_await pair.world.sleep_for(1s);
}

Co<void> half_close(Pair& pair, Bytes sent, std::string& end) {
  auto opened = co_await pair.caller.open(pair.callee.self(), kStream, pair.soon());
  auto const stream = std::move(*opened);
  (void)co_await stream->write(sent, pair.soon());
  (void)co_await stream->close_write(pair.soon());
  auto got = co_await read_to_end(*stream, 100, pair.soon());
  end = got ? cat("end after ", got->size()) : std::string(name(got.error().code));
}

}  // namespace

namespace {

Co<Status> answer_first(rpc::ServerCall& call) {
  (void)co_await call.receive(kNoDeadline);
  co_return co_await call.send(as_bytes("hi"), {}, kNoDeadline);
}

Co<void> read_byte(Stream& stream, TimePoint deadline, std::string& said) {
  std::array<std::byte, 1> byte{};
  auto const got = co_await stream.read_some(byte, deadline);
  said = got ? cat(*got, " bytes") : std::string(name(got.error().code));
}

/// Writes on after the only answer has come.
Co<void> write_on(Pair& pair, bool finish, std::string& before, std::string& after) {
  auto opened = co_await pair.caller.open(pair.callee.self(), kStream, pair.soon());
  auto const stream = std::move(*opened);
  Bytes const item = to_bytes(rpc::stream_header(rpc::StreamMarker::message, 0));
  Bytes const end = to_bytes(rpc::stream_header(rpc::StreamMarker::end, 0));
  (void)co_await stream->write(item, pair.soon());
  Bytes answer(item.size() + 2);
  (void)co_await read_exactly(*stream, answer, pair.soon());
  for (int i = 0; i < 20; ++i) (void)co_await stream->write(item, pair.soon());
  co_await read_byte(*stream, pair.soon(), before);
  if (finish) (void)co_await stream->write(end, pair.soon());
  co_await read_byte(*stream, pair.soon(finish ? 1s : 15s), after);
}

}  // namespace

TEST_CASE("a handler that answers before the requests end does not end the stream under them") {
  for (bool const finish : {true, false}) {
    Pair pair;
    auto const serving = rpc::serve_stream(pair.callee, kStream, answer_first);
    std::string before;
    std::string after;
    pair.world.run(write_on(pair, finish, before, after));
    CHECK(before == "timeout");
    CHECK(after == "0 bytes");
  }
}

TEST_CASE("a caller that leaves is told to a handler in receive, and cancels one elsewhere") {
  for (bool const receive : {true, false}) {
    for (bool const finish : {true, false}) {
      Pair pair;
      std::string story;
      auto const serving = rpc::serve_stream(pair.callee, kStream, [&](rpc::ServerCall& call) {
        return stream_story(call, pair.world, receive, story);
      });
      pair.world.run(open_and_leave(pair, finish));
      pair.world.run_for(10s);
      CHECK(story == (receive ? (finish ? "nothing" : "closed") : "cancelled"));
    }
  }
}

TEST_CASE("a half close by the caller kills the call, even after the end marker") {
  for (auto const& sent : {Bytes{}, to_bytes(rpc::stream_header(rpc::StreamMarker::end, 0))}) {
    Pair pair;
    std::string story;
    auto const serving = rpc::serve_stream(pair.callee, kStream, [&](rpc::ServerCall& call) {
      return stream_story(call, pair.world, false, story);
    });
    std::string end;
    pair.world.run(half_close(pair, sent, end));
    CHECK(end == "closed");
    pair.world.run_for(1s);
    CHECK(story == "cancelled");
  }
}

namespace {

Co<void> answer_raw(Incoming incoming, Bytes bytes, bool reset) {
  (void)co_await incoming.stream->write(bytes, kNoDeadline);
  if (reset) co_return;  // destroying it resets
  (void)co_await incoming.stream->close_write(kNoDeadline);
  Bytes rest(100);
  (void)co_await incoming.stream->read_some(rest, kNoDeadline);
}

std::string hear(Bytes bytes, bool reset, std::size_t& count) {
  Pair pair;
  auto const serving = pair.callee.serve(
      kStream, [&](Incoming incoming) { return answer_raw(std::move(incoming), bytes, reset); });
  std::vector<Bytes> answers;
  std::string end;
  std::array<std::uint64_t, 2> counts{};
  pair.world.run(stream_through(pair, {}, answers, end, counts));
  count = answers.size();
  return end.substr(0, end.find(':'));
}

}  // namespace

TEST_CASE("a caller hears ends, resets, cuts and nonsense for what they are") {
  std::size_t count = 0;
  for (bool const reset : {false, true}) {
    CHECK(hear(*from_hex("0000000000000000020805"), reset, count) == "end");
    CHECK(count == 1);
    CHECK(hear({}, reset, count) == "end");
    CHECK(hear(*from_hex("00000000000000000208"), reset, count) == "closed");
    CHECK(hear(*from_hex("0000"), reset, count) == "closed");
  }
  CHECK(hear(*from_hex("010000000000000000"), false, count) == "refused");
  CHECK(hear(*from_hex("020000000000000000"), false, count) == "malformed");
  CHECK(hear(*from_hex("007fffffffffffffff"), false, count) == "too_large");
  CHECK(hear(*from_hex("010000000000100001"), false, count) == "too_large");
  CHECK(count == 0);
}

namespace {

Co<void> poll_answers(Pair& pair, std::string& story) {
  auto opened =
      co_await rpc::ClientCall::open(pair.caller, pair.callee.self(), kStream, pair.soon());
  auto const call = std::move(*opened);
  for (int i = 0; i < 100; ++i) {
    auto got = co_await call->receive(pair.world.now() + 100ms);
    if (!got && got.error().code == Errc::timeout) continue;
    story = got && *got ? to_string(**got) : "no answer";
    break;
  }
}

Co<void> answer_in_pieces(Incoming incoming, Runtime& runtime) {
  for (auto const* piece : {"000000", "0000000000", "0268", "69"}) {
    Bytes const bytes = *from_hex(piece);
    (void)co_await incoming.stream->write(bytes, kNoDeadline);
    (void)co_await runtime.sleep_for(1s);
  }
}

}  // namespace

TEST_CASE("a timeout inside an answer loses nothing") {
  Pair pair;
  auto const serving = pair.callee.serve(kStream, [&](Incoming incoming) {
    return answer_in_pieces(std::move(incoming), pair.world);
  });
  std::string story;
  pair.world.run(poll_answers(pair, story));
  CHECK(story == "hi");
}
