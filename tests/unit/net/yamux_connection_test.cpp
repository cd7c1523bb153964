// SPDX-License-Identifier: MIT
#include "core/net/yamux_connection.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

/// Two sessions over a memory pipe; streams that the server accepts are collected.
struct Pair {
  explicit Pair(Runtime& r, YamuxOptions options = {}) : runtime(r), scope(r) {
    auto [left, right] = sim::memory_pair(r);
    client = std::make_unique<YamuxConnection>(
        r, std::move(left), yamux::Session::Role::client, options, scope, [](auto) {});
    server = std::make_unique<YamuxConnection>(
        r,
        std::move(right),
        yamux::Session::Role::server,
        options,
        scope,
        [this](std::unique_ptr<Stream> stream) { accepted.push_back(std::move(stream)); });
  }

  Co<std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>>> stream() {
    auto const before = accepted.size();
    auto ours = co_await client->open(soon());
    REQUIRE(ours);
    while (accepted.size() == before)
      (void)co_await runtime.sleep_for(std::chrono::milliseconds(1));
    std::pair both(*std::move(ours), std::move(accepted.back()));
    co_return std::move(both);
  }

  [[nodiscard]] TimePoint soon() const { return runtime.now() + seconds(10); }

  Runtime& runtime;
  Scope scope;
  std::vector<std::unique_ptr<Stream>> accepted;
  std::unique_ptr<YamuxConnection> client;
  std::unique_ptr<YamuxConnection> server;
};

Errc code(auto const& result) {
  REQUIRE(!result);
  return result.error().code;
}

}  // namespace

TEST_SUITE("YamuxConnection") {
  TEST_CASE("a slow reader stops its writer, not the other streams") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      auto slow = co_await pair.stream();
      auto quick = co_await pair.stream();
      Bytes const big(1u << 20);
      TimePoint const short_time = r.now() + std::chrono::milliseconds(100);
      auto const blocked = co_await slow.first->write(big, short_time);
      CHECK(code(blocked) == Errc::timeout);
      auto const through = co_await quick.first->write(as_bytes("hello"), pair.soon());
      CHECK(through);
      Bytes got(5);
      auto const read = co_await read_exactly(*quick.second, got, pair.soon());
      CHECK(read);
      // The slow one gets all that its window held.
      Bytes window(yamux::kInitialWindow);
      auto const rest = co_await read_exactly(*slow.second, window, pair.soon());
      CHECK(rest);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("half close ends one direction, and what was sent before it arrives") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      auto both = co_await pair.stream();
      auto& [ours, theirs] = both;
      (void)co_await ours->write(as_bytes("question"), pair.soon());
      (void)co_await ours->close_write(pair.soon());
      auto const question = co_await read_to_end(*theirs, 100, pair.soon());
      REQUIRE(question);
      CHECK(as_text(*question) == "question");
      (void)co_await theirs->write(as_bytes("answer"), pair.soon());
      (void)co_await theirs->close_write(pair.soon());
      theirs.reset();  // the handler is done; its answer must survive that
      auto const answer = co_await read_to_end(*ours, 100, pair.soon());
      REQUIRE(answer);
      CHECK(as_text(*answer) == "answer");
      auto const late = co_await ours->write(as_bytes("more"), pair.soon());
      CHECK(code(late) == Errc::closed);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("an answer survives a handler that leaves before the asker has closed") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      auto both = co_await pair.stream();
      auto& [ours, theirs] = both;
      (void)co_await theirs->write(as_bytes("answer"), pair.soon());
      (void)co_await theirs->close_write(pair.soon());
      theirs.reset();
      (void)co_await ours->write(as_bytes("too late, swallowed"), pair.soon());
      auto const answer = co_await read_to_end(*ours, 100, pair.soon());
      REQUIRE(answer);
      CHECK(as_text(*answer) == "answer");
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a reset, and a handle that is destroyed, end both directions at the other end") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      Bytes buffer(10);
      auto first = co_await pair.stream();
      first.first->reset();
      auto const read = co_await first.second->read_some(buffer, pair.soon());
      CHECK(code(read) == Errc::closed);
      auto second = co_await pair.stream();
      second.first.reset();
      auto const again = co_await second.second->read_some(buffer, pair.soon());
      CHECK(code(again) == Errc::closed);
      auto const write = co_await second.second->write(buffer, pair.soon());
      CHECK(code(write) == Errc::closed);
      CHECK(pair.client->streams() == 0);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("many writers share fairly, and all bytes arrive in order") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      static constexpr std::size_t kEach = 2u << 20;
      auto writer = [](Stream& s, std::byte fill, TimePoint deadline) -> Co<void> {
        Bytes const block(kEach, fill);
        auto const wrote = co_await s.write(block, deadline);
        CHECK(wrote);
        (void)co_await s.close_write(deadline);
      };
      auto reader = [](Stream& s, std::byte fill, TimePoint deadline, int& done) -> Co<void> {
        auto const all = co_await read_to_end(s, kEach, deadline);
        REQUIRE(all);
        CHECK(all->size() == kEach);
        CHECK(static_cast<std::size_t>(std::count(all->begin(), all->end(), fill)) == kEach);
        ++done;
      };
      int done = 0;
      std::vector<std::unique_ptr<Stream>> keep;
      Scope work(r);
      for (int i = 0; i < 6; ++i) {
        auto both = co_await pair.stream();
        auto& [ours, theirs] = both;
        auto const fill = static_cast<std::byte>(i + 1);
        work.spawn("writer", writer(*ours, fill, r.now() + seconds(40)));
        work.spawn("reader", reader(*theirs, fill, r.now() + seconds(40), done));
        keep.push_back(std::move(ours));
        keep.push_back(std::move(theirs));
      }
      (void)co_await work.join();
      CHECK(done == 6);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("what nobody reads is bounded: beyond it streams are reset, the connection lives") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      YamuxOptions options;
      options.max_buffered = 300u << 10;
      Pair pair(r, options);
      auto first = co_await pair.stream();
      auto second = co_await pair.stream();
      Bytes const window(yamux::kInitialWindow);
      (void)co_await first.first->write(window, pair.soon());
      (void)co_await second.first->write(window, pair.soon());
      Bytes buffer(10);
      auto const reset = co_await second.first->read_some(buffer, pair.soon());
      CHECK(code(reset) == Errc::closed);
      CHECK(pair.server->alive());
      Bytes all(window.size());
      auto const read = co_await read_exactly(*first.second, all, pair.soon());
      CHECK(read);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("the end of the connection ends its streams, after what had arrived") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Pair pair(r);
      auto both = co_await pair.stream();
      auto& [ours, theirs] = both;
      (void)co_await ours->write(as_bytes("last words"), pair.soon());
      co_await pair.client->close(pair.soon());
      (void)co_await pair.server->ended();
      Bytes words(10);
      auto const read = co_await read_exactly(*theirs, words, pair.soon());
      CHECK(read);
      auto const end = co_await theirs->read_some(words, pair.soon());
      CHECK(code(end) == Errc::closed);
      auto const opened = co_await pair.server->open(pair.soon());
      CHECK(!opened);
      co_await pair.scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a peer that is silent after a ping is given up, a quiet live one is not") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      YamuxOptions options;
      options.keep_alive = std::chrono::milliseconds(20);
      options.ping_answer = std::chrono::milliseconds(200);
      Pair pair(r, options);
      (void)co_await r.sleep_for(std::chrono::milliseconds(300));
      CHECK(pair.client->alive());
      CHECK(pair.client->round_trip().has_value());
      co_await pair.scope.close();
      auto [left, mute] = sim::memory_pair(r);
      Scope scope(r);
      YamuxConnection lonely(
          r, std::move(left), yamux::Session::Role::client, options, scope, [](auto) {});
      (void)co_await lonely.ended();
      CHECK(lonely.why()->code == Errc::timeout);
      co_await scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("garbage ends the session") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      Scope scope(r);
      YamuxConnection session(
          r, std::move(left), yamux::Session::Role::server, {}, scope, [](auto) {});
      Bytes const garbage(100, std::byte{0xff});
      (void)co_await right->write(garbage, r.now() + seconds(5));
      (void)co_await session.ended();
      CHECK(session.why()->code == Errc::malformed);
      co_await scope.close();
    };
    test::run(runtime, body(runtime));
  }
}
