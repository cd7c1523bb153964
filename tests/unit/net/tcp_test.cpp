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
      auto const total = std::make_shared<SharedTraffic>();
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
      auto const total = std::make_shared<SharedTraffic>();
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

  TEST_CASE("what sockets share is limited, in both directions, and a change counts at once") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const total = std::make_shared<SharedTraffic>();
      auto const free = std::make_shared<SharedTraffic>();
      auto listener = TcpListener::bind(r, "127.0.0.1", 0, free);
      REQUIRE(listener);
      TimePoint const deadline = r.now() + seconds(20);
      wire::TcpTarget const there = target((*listener)->port());
      auto client = co_await tcp_dial(r, there, total, deadline);
      REQUIRE(client);
      auto server = co_await (*listener)->accept();
      REQUIRE(server);
      Bytes const sent(60'000, std::byte{7});
      Bytes got(60'000);
      total->upload.set(100'000, r.now());
      auto begun = r.now();
      auto const wrote = co_await (*client)->write(sent, deadline);
      CHECK(wrote);
      // 60 kB at 100 kB/s, less a quarter of a second and the last piece.
      CHECK(r.now() - begun > std::chrono::milliseconds(200));
      auto const read = co_await read_exactly(**server, got, deadline);
      CHECK(read);
      CHECK(got == sent);

      total->download.set(100'000, r.now());
      begun = r.now();
      auto const answered = co_await (*server)->write(sent, deadline);
      CHECK(answered);
      CHECK(r.now() - begun < std::chrono::milliseconds(200));
      auto const back = co_await read_exactly(**client, got, deadline);
      CHECK(back);
      CHECK(r.now() - begun > std::chrono::milliseconds(200));

      // A deadline while it waits for its turn loses no bytes.
      total->download.set(RateLimit::kLeastRate, r.now());
      auto const more = co_await (*server)->write(as_bytes("abc"), deadline);
      CHECK(more);
      TimePoint const soon = r.now() + std::chrono::milliseconds(20);
      auto const late = co_await (*client)->read_some(got, soon);
      REQUIRE(!late);
      CHECK(late.error().code == Errc::timeout);
      total->download.set(0, r.now());
      auto const last = co_await (*client)->read_some(got, deadline);
      REQUIRE(last);
      CHECK(*last == 3);
      // One that was closed meanwhile is no longer waited for.
      total->upload.set(RateLimit::kLeastRate, r.now());
      begun = r.now();
      auto stop = [](Runtime& runtime_of, TcpStream& s) -> Co<void> {
        (void)co_await runtime_of.sleep_for(std::chrono::milliseconds(50));
        s.reset();
      };
      Scope scope(r);
      scope.spawn("stop", stop(r, **client));
      auto const cut = co_await (*client)->write(sent, deadline);
      REQUIRE(!cut);
      CHECK(cut.error().code == Errc::closed);
      CHECK(r.now() - begun < seconds(2));
      co_await scope.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("cancelling ends an accept and a read at once") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const total = std::make_shared<SharedTraffic>();
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
