// SPDX-License-Identifier: MIT
#include "core/base/channel.hpp"

#include <memory>

#include <doctest/doctest.h>

#include "core/base/scope.hpp"

#include "tests/support/run.hpp"

using namespace waggle;

namespace {

Co<void> send_all(Channel<int>& channel, int count) {
  for (int i = 0; i < count; ++i) {
    auto const sent = co_await channel.send(i);
    CHECK(sent);
    CHECK(channel.size() <= 2);
  }
  channel.close();
}

Co<void> receive_into(Channel<int>& channel, int& sum, int& ends) {
  for (;;) {
    auto const got = co_await channel.receive();
    if (!got) break;
    sum += *got;
  }
  ++ends;
}

}  // namespace

TEST_SUITE("Channel") {
  TEST_CASE("delivers in order and holds the sender back when full") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Channel<int> channel(r, 2);
      Scope scope(r);
      scope.spawn("send", send_all(channel, 100));
      for (int i = 0; i < 100; ++i) {
        auto got = co_await channel.receive();
        REQUIRE(got);
        CHECK(*got == i);
      }
      auto const end = co_await channel.receive();
      CHECK(!end);
      CHECK(end.error().code == Errc::closed);
      co_await scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("what is queued at close is still received, what comes later refused") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Channel<int> channel(r, 3);
      CHECK(channel.empty());
      CHECK(channel.try_send(1));
      CHECK(channel.try_send(2));
      channel.close();
      CHECK(channel.closed());
      CHECK(!channel.try_send(3));
      auto const refused = co_await channel.send(3);
      CHECK(refused.error().code == Errc::closed);
      auto const first = co_await channel.receive();
      auto const second = co_await channel.receive();
      CHECK(*first == 1);
      CHECK(*second == 2);
      auto const end = co_await channel.receive();
      CHECK(end.error().code == Errc::closed);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a full channel says no to try_send and leaves the value with its owner") {
    SystemRuntime runtime;
    Channel<std::unique_ptr<int>> channel(runtime, 1);
    CHECK(channel.try_send(std::make_unique<int>(1)));
    auto mine = std::make_unique<int>(2);
    CHECK(!channel.try_send(std::move(mine)));
    REQUIRE(mine != nullptr);  // NOLINT(bugprone-use-after-move): that is the promise
    CHECK(*mine == 2);
  }

  TEST_CASE("send and receive keep their deadlines") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Channel<int> channel(r, 1);
      auto const none = co_await channel.receive(r.now() + std::chrono::milliseconds(2));
      CHECK(none.error().code == Errc::timeout);
      CHECK(channel.try_send(1));
      auto const full = co_await channel.send(2, r.now() + std::chrono::milliseconds(2));
      CHECK(full.error().code == Errc::timeout);
      CHECK(channel.size() == 1);
      auto const past = co_await channel.receive(r.now() - std::chrono::seconds(1));
      CHECK(past);  // what is there needs no waiting
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("several receivers share the items, and all learn of the end") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Channel<int> channel(r, 2);
      int sum = 0;
      int ends = 0;
      Scope scope(r);
      for (int i = 0; i < 3; ++i) scope.spawn("receive", receive_into(channel, sum, ends));
      scope.spawn("send", send_all(channel, 50));
      auto const joined = co_await scope.join();
      CHECK(joined);
      CHECK(sum == 49 * 50 / 2);
      CHECK(ends == 3);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("closing the scope frees a sender that waits for room") {
    SystemRuntime runtime;
    auto sender = [](Channel<int>& channel, bool& cancelled) -> Co<void> {
      auto const sent = co_await channel.send(2);
      cancelled = !sent && sent.error().code == Errc::cancelled;
    };
    auto body = [](Runtime& r, auto& f) -> Co<void> {
      Channel<int> channel(r, 1);
      bool cancelled = false;
      CHECK(channel.try_send(1));
      Scope scope(r);
      scope.spawn("send", f(channel, cancelled));
      (void)co_await r.sleep_for(std::chrono::milliseconds(1));
      co_await scope.close();
      CHECK(cancelled);
      CHECK(channel.size() == 1);
    };
    test::run(runtime, body(runtime, sender));
  }
}
