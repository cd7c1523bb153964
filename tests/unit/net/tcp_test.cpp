// SPDX-License-Identifier: MIT
#include "core/net/tcp.hpp"

#include <doctest/doctest.h>

#include "core/base/scope.hpp"

#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

wire::TcpTarget target(std::uint16_t port, char const* host = "127.0.0.1") {
  auto const kind = std::string_view(host) == "localhost" ? wire::TcpTarget::Kind::dns4
                                                          : wire::TcpTarget::Kind::ip4;
  return {kind, host, port};
}

}  // namespace

TEST_SUITE("Tcp") {
  TEST_CASE("bytes, half close, deadlines and counts on loopback") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const total = std::make_shared<Traffic>();
      auto listener = TcpListener::bind(r, "127.0.0.1", 0, total);
      REQUIRE(listener);
      TimePoint const deadline = r.now() + seconds(10);
      wire::TcpTarget const there = target((*listener)->port(), "localhost");
      auto client = co_await tcp_dial(r, there, total, deadline);
      REQUIRE(client);
      auto server = co_await (*listener)->accept();
      REQUIRE(server);
      CHECK((*client)->local() == (*server)->remote());
      CHECK((*client)->remote() == (*server)->local());
      Bytes buffer(100);
      TimePoint const soon = r.now() + std::chrono::milliseconds(20);
      auto const silent = co_await (*server)->read_some(buffer, soon);
      REQUIRE(!silent);
      CHECK(silent.error().code == Errc::timeout);
      auto const wrote = co_await (*client)->write(as_bytes("hello"), deadline);
      CHECK(wrote);
      auto const read = co_await read_exactly(**server, MutableBytes(buffer).first(5), deadline);
      CHECK(read);
      (void)co_await (*client)->close_write(deadline);
      auto const end = co_await (*server)->read_some(buffer, deadline);
      REQUIRE(end);
      CHECK(*end == 0);
      auto const back = co_await (*server)->write(as_bytes("bye"), deadline);
      CHECK(back);
      auto const all = co_await read_exactly(**client, MutableBytes(buffer).first(3), deadline);
      CHECK(all);
      CHECK(total->in == 8);
      CHECK(total->out == 8);
      CHECK((*client)->traffic()->out == 5);
      (*server)->reset();
      auto const after = co_await (*server)->read_some(buffer, deadline);
      CHECK(!after);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("busy ports, refused connections and strange hosts are errors") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const total = std::make_shared<Traffic>();
      auto listener = TcpListener::bind(r, "127.0.0.1", 0, total);
      REQUIRE(listener);
      auto const port = (*listener)->port();
      auto const busy = TcpListener::bind(r, "127.0.0.1", port, total);
      REQUIRE(!busy);
      CHECK(busy.error().code == Errc::io);
      CHECK(TcpListener::bind(r, "nowhere", 0, total).error().code == Errc::invalid);
      (*listener)->close();
      wire::TcpTarget const gone = target(port);
      auto const refused = co_await tcp_dial(r, gone, total, r.now() + seconds(5));
      REQUIRE(!refused);
      CHECK(refused.error().code == Errc::closed);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("cancelling ends an accept and a read at once") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const total = std::make_shared<Traffic>();
      auto listener = TcpListener::bind(r, "127.0.0.1", 0, total);
      REQUIRE(listener);
      wire::TcpTarget const there = target((*listener)->port());
      auto client = co_await tcp_dial(r, there, total, r.now() + seconds(5));
      REQUIRE(client);
      auto server = co_await (*listener)->accept();
      REQUIRE(server);
      int left = 0;
      auto wait_for_peer = [](TcpListener& l, int& count) -> Co<void> {
        auto const accepted = co_await l.accept();
        CHECK(accepted.error().code == Errc::cancelled);
        ++count;
      };
      auto wait_for_bytes = [](Stream& s, int& count) -> Co<void> {
        Bytes buffer(10);
        auto const read = co_await s.read_some(buffer, kNoDeadline);
        CHECK(read.error().code == Errc::cancelled);
        ++count;
      };
      Scope scope(r);
      scope.spawn("accept", wait_for_peer(**listener, left));
      scope.spawn("read", wait_for_bytes(**client, left));
      (void)co_await r.sleep_for(std::chrono::milliseconds(10));
      co_await scope.close();
      CHECK(left == 2);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("this machine has a loopback address") {
    auto const all = interface_addresses(false);
    CHECK(std::find(all.begin(), all.end(), "127.0.0.1") != all.end());
  }
}
