// SPDX-License-Identifier: MIT
#include "core/net/swarm.hpp"

#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/address_book.hpp"
#include "core/net/peer_routing.hpp"
#include "core/net/ping.hpp"
#include "core/net/tcp.hpp"

#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

SwarmOptions loopback() {
  SwarmOptions options;
  options.listen_host = "127.0.0.1";
  options.agent = "waggle/test";
  return options;
}

/// A Swarm with what it needs, on 127.0.0.1.
struct Node {
  explicit Node(Runtime& r, SwarmOptions options = loopback())
      : runtime(r),
        identity(crypto::Identity::generate()),
        book(r),
        swarm(r, identity, book, options) {
    auto const listening = swarm.listen();
    REQUIRE(listening);
  }

  [[nodiscard]] wire::Multiaddr address() const { return swarm.addresses().front(); }

  void knows(Node const& other) {
    std::vector<wire::Multiaddr> const addresses{other.address()};
    swarm.add_addresses(other.swarm.self(), addresses);
  }

  [[nodiscard]] TimePoint soon() const { return runtime.now() + seconds(20); }

  Runtime& runtime;
  crypto::Identity identity;
  AddressBook book;
  Swarm swarm;
};

Co<void> echo(Runtime& runtime, Incoming incoming) {
  Bytes buffer(64u << 10);
  TimePoint const deadline = runtime.now() + seconds(30);
  for (;;) {
    auto const n = co_await incoming.stream->read_some(buffer, deadline);
    if (!n || *n == 0) break;
    auto const wrote = co_await incoming.stream->write(ByteView(buffer).first(*n), deadline);
    if (!wrote) break;
  }
  (void)co_await incoming.stream->close_write(deadline);
}

Registration serve_echo(Node& node, std::string protocol) {
  Handler handler = [&node](Incoming incoming) { return echo(node.runtime, std::move(incoming)); };
  return node.swarm.serve(std::move(protocol), std::move(handler));
}

Co<void> write_all(Stream& stream, std::size_t total, TimePoint deadline, bool& fine) {
  Bytes block(100'000);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i * 7);
  fine = true;
  for (std::size_t sent = 0; sent < total && fine;) {
    auto const n = std::min(block.size(), total - sent);
    auto const wrote = co_await stream.write(ByteView(block).first(n), deadline);
    fine = wrote.has_value();
    sent += n;
  }
  auto const closed = co_await stream.close_write(deadline);
  fine = fine && closed.has_value();
}

/// Waits, at most five seconds, until `condition` holds.
template <class Condition>
Co<bool> eventually(Runtime& runtime, Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i)
    (void)co_await runtime.sleep_for(std::chrono::milliseconds(10));
  co_return condition();
}

}  // namespace

TEST_SUITE("Swarm") {
  TEST_CASE("64 MiB go through an echo and come back unchanged, half closed") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      auto const serving = serve_echo(b, "/echo/1");
      a.knows(b);
      auto stream = co_await a.swarm.open(b.swarm.self(), "/echo/1", a.soon());
      REQUIRE(stream);
      // b never opens a stream of its own: to it a is a stranger, whose bulk is slowed, not reset.
      constexpr std::size_t kTotal = 64u << 20;
      bool wrote = false;
      Scope scope(r);
      scope.spawn("writer", write_all(**stream, kTotal, r.now() + seconds(50), wrote));
      Bytes buffer(256u << 10);
      std::size_t received = 0;
      bool same = true;
      for (;;) {
        auto const n = co_await (*stream)->read_some(buffer, r.now() + seconds(30));
        REQUIRE_MESSAGE(n, (n ? "" : n.error().detail));
        if (*n == 0) break;
        for (std::size_t i = 0; i < *n; i += 97)
          same = same && buffer[i] == static_cast<std::byte>(((received + i) % 100'000) * 7);
        received += *n;
      }
      CHECK(received == kTotal);
      CHECK(same);
      (void)co_await scope.join();
      CHECK(wrote);
      auto const peers = a.swarm.peers();
      REQUIRE(peers.size() == 1);
      CHECK(peers[0].bytes_out > kTotal);
      CHECK(peers[0].bytes_out < kTotal + kTotal / 100);
      CHECK(a.swarm.socket_bytes_out() == peers[0].bytes_out);
      CHECK(a.swarm.socket_bytes_in() == peers[0].bytes_in);
      stream->reset();
      co_await a.swarm.close();
      co_await b.swarm.close();
      CHECK(a.swarm.socket_bytes_out() == b.swarm.socket_bytes_in());
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("identify tells agent, protocols and addresses, and pushes changes") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      a.knows(b);
      std::vector<std::string> told;
      a.swarm.on_identified([&](PeerId const& peer,
                                std::vector<std::string> const& protocols,
                                std::vector<wire::Multiaddr> const& addresses) {
        CHECK(peer == b.swarm.self());
        CHECK(addresses.size() == 1);
        told = protocols;
      });
      auto const connected = co_await a.swarm.connect(b.swarm.self(), a.soon());
      REQUIRE(connected);
      auto const has = [&told](std::string_view name) {
        return std::find(told.begin(), told.end(), name) != told.end();
      };
      auto const first = co_await eventually(r, [&] { return has("/ipfs/ping/1.0.0"); });
      CHECK(first);
      CHECK(has("/ipfs/id/1.0.0"));
      CHECK(!has("late"));
      CHECK(a.swarm.peers().front().agent == "waggle/test");
      auto const back =
          co_await eventually(r, [&] { return !b.swarm.peers().front().agent.empty(); });
      CHECK(back);
      auto serving = serve_echo(b, "late");
      auto const added = co_await eventually(r, [&] { return has("late"); });
      CHECK(added);
      serving.reset();
      auto const removed = co_await eventually(r, [&] { return !has("late"); });
      CHECK(removed);
      // The listener learned where the dialer listens, by identify.
      CHECK(!b.book.addresses(a.swarm.self()).empty());
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a protocol that is not served is refused, and the connection stays") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      a.knows(b);
      auto const refused = co_await a.swarm.open(b.swarm.self(), "nobody", a.soon());
      REQUIRE(!refused);
      CHECK(refused.error().code == Errc::refused);
      CHECK(a.swarm.connected(b.swarm.self()));
      auto const ping = co_await ping::measure(a.swarm, b.swarm.self(), a.soon());
      CHECK(ping);
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a wrong peer id at an address is refused") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      auto const somebody = crypto::Identity::generate().peer_id();
      std::vector<wire::Multiaddr> const wrong{b.address()};
      a.swarm.add_addresses(somebody, wrong);
      auto const connected = co_await a.swarm.connect(somebody, a.soon());
      REQUIRE(!connected);
      CHECK(connected.error().code == Errc::refused);
      auto const direct = co_await a.swarm.dial(b.address().with_peer_id(somebody), a.soon());
      CHECK(!direct);
      auto const right = co_await a.swarm.dial(b.address().with_peer_id(b.swarm.self()), a.soon());
      CHECK(right);
      auto const itself = co_await a.swarm.dial(a.address(), a.soon());
      CHECK(!itself);
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("nobody's address, a dead address and a lookup that helps") {
    struct Routing final : PeerRouting {
      std::vector<wire::Multiaddr> answer;
      int asked = 0;

      Co<Result<std::vector<wire::Multiaddr>>> find_peer(PeerId, TimePoint) override {
        ++asked;
        return give(answer);
      }

      static Co<Result<std::vector<wire::Multiaddr>>> give(std::vector<wire::Multiaddr> a) {
        co_return a;
      }
    };

    SystemRuntime runtime;
    auto body = [](Runtime& r, Routing& routing) -> Co<void> {
      Node a(r);
      Node b(r);
      auto const unknown = co_await a.swarm.connect(b.swarm.self(), a.soon());
      REQUIRE(!unknown);
      INFO(unknown.error().detail);
      CHECK(unknown.error().code == Errc::not_found);
      std::vector<wire::Multiaddr> const dead{*wire::Multiaddr::tcp("127.0.0.1", 1)};
      a.swarm.add_addresses(b.swarm.self(), dead);
      auto const failed = co_await a.swarm.connect(b.swarm.self(), a.soon());
      REQUIRE(!failed);
      CHECK(failed.error().code == Errc::closed);
      a.swarm.set_peer_routing(&routing);
      routing.answer = {b.address()};
      auto const found = co_await a.swarm.connect(b.swarm.self(), a.soon());
      CHECK(found);
      CHECK(routing.asked == 1);
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    Routing routing;
    test::run(runtime, body(runtime, routing));
  }

  TEST_CASE("a busy port gives way to the next") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      SwarmOptions options = loopback();
      options.listen_port = a.swarm.listen_port();
      Node b(r, options);
      CHECK(b.swarm.listen_port() > a.swarm.listen_port());
      CHECK(b.swarm.listen_port() < a.swarm.listen_port() + Swarm::kListenPorts);
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("both dialling at once keeps a connection that both agree on") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      a.knows(b);
      b.knows(a);
      auto const serving = serve_echo(b, "/echo/1");
      int done = 0;
      auto dial = [](Node& from, PeerId to, int& count) -> Co<void> {
        auto const connected = co_await from.swarm.connect(to, from.soon());
        CHECK(connected);
        ++count;
      };
      Scope scope(r);
      scope.spawn("a", dial(a, b.swarm.self(), done));
      scope.spawn("b", dial(b, a.swarm.self(), done));
      (void)co_await scope.join();
      CHECK(done == 2);
      auto const stream = co_await a.swarm.open(b.swarm.self(), "/echo/1", a.soon());
      CHECK(stream);
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("closing while handlers and writers are busy leaves nothing behind") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      auto const serving = serve_echo(b, "/echo/1");
      a.knows(b);
      std::vector<std::unique_ptr<Stream>> streams;
      Scope scope(r);
      std::vector<char> fine(8);
      auto busy = [](Stream& stream, TimePoint deadline) -> Co<void> {
        bool done = false;
        co_await write_all(stream, 1u << 30, deadline, done);
        CHECK(!done);
      };
      for (int i = 0; i < 8; ++i) {
        auto stream = co_await a.swarm.open(b.swarm.self(), "/echo/1", a.soon());
        REQUIRE(stream);
        scope.spawn("writer", busy(**stream, a.soon()));
        streams.push_back(*std::move(stream));
      }
      (void)co_await r.sleep_for(std::chrono::milliseconds(50));
      co_await b.swarm.close();
      (void)co_await scope.join();
      streams.clear();
      auto const gone = co_await eventually(r, [&] { return a.swarm.peers().empty(); });
      CHECK(gone);
      co_await a.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("strangers who say nothing, or rubbish, are cut off and cost little") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      SwarmOptions options = loopback();
      options.max_pending_inbound = 8;
      Node a(r, options);
      auto const total = std::make_shared<SharedTraffic>();
      wire::TcpTarget const target{wire::TcpTarget::Kind::ip4, "127.0.0.1", a.swarm.listen_port()};
      std::vector<std::unique_ptr<TcpStream>> idle;
      for (int i = 0; i < 40; ++i) {
        auto socket = co_await tcp_dial(r, target, total, a.soon());
        REQUIRE(socket);
        idle.push_back(*std::move(socket));
      }
      // The oldest were pushed out long before their 15 s: their sockets end.
      auto const drain = [](Stream& stream, TimePoint deadline) -> Co<Errc> {
        Bytes buffer(256);
        for (;;) {
          auto const n = co_await stream.read_some(buffer, deadline);
          if (!n) co_return n.error().code;
          if (*n == 0) co_return Errc::closed;
        }
      };
      auto const ended = co_await drain(*idle.front(), r.now() + seconds(5));
      CHECK(ended == Errc::closed);
      Bytes rubbish(5000, std::byte{0x5a});
      (void)co_await idle.back()->write(rubbish, a.soon());
      auto const refused = co_await drain(*idle.back(), r.now() + seconds(5));
      CHECK(refused == Errc::closed);
      // An honest peer still gets in.
      Node b(r);
      b.knows(a);
      auto const connected = co_await b.swarm.connect(a.swarm.self(), b.soon());
      CHECK(connected);
      co_await b.swarm.close();
      co_await a.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("connections above the limits are refused") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      SwarmOptions options = loopback();
      options.max_connections = 2;
      options.max_connections_per_peer = 1;
      Node hub(r, options);
      Node a(r);
      Node b(r);
      Node c(r);
      for (Node* node : {&a, &b, &c}) node->knows(hub);
      auto const first = co_await a.swarm.connect(hub.swarm.self(), a.soon());
      auto const second = co_await b.swarm.connect(hub.swarm.self(), b.soon());
      CHECK(first);
      CHECK(second);
      (void)co_await c.swarm.connect(hub.swarm.self(), c.soon());
      auto const dropped =
          co_await eventually(r, [&] { return !c.swarm.connected(hub.swarm.self()); });
      CHECK(dropped);
      CHECK(hub.swarm.peers().size() == 2);
      (void)co_await a.swarm.dial(hub.address(), a.soon());
      auto const one = co_await eventually(r, [&] { return a.swarm.peers().size() == 1; });
      CHECK(one);
      for (Node* node : {&a, &b, &c, &hub}) co_await node->swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a probe with a fresh key tells who answers") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      auto const found = co_await probe_identity(r, a.address(), a.soon());
      REQUIRE(found);
      CHECK(*found == a.swarm.self());
      auto const nobody =
          co_await probe_identity(r, *wire::Multiaddr::tcp("127.0.0.1", 1), a.soon());
      CHECK(!nobody);
      co_await a.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("misdeeds end the connection") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      a.knows(b);
      auto const connected = co_await a.swarm.connect(b.swarm.self(), a.soon());
      REQUIRE(connected);
      for (int i = 1; i < Swarm::kMaxMisdeeds; ++i) a.swarm.misbehaved(b.swarm.self(), "test");
      CHECK(a.swarm.connected(b.swarm.self()));
      a.swarm.misbehaved(b.swarm.self(), "test");
      CHECK(!a.swarm.connected(b.swarm.self()));
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("observers hear of the first connection and of the last one's end") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      Node a(r);
      Node b(r);
      a.knows(b);
      std::vector<bool> heard;
      a.swarm.on_connection([&](PeerId const&, bool connected) { heard.push_back(connected); });
      (void)co_await a.swarm.connect(b.swarm.self(), a.soon());
      (void)co_await a.swarm.dial(b.address(), a.soon());
      CHECK(a.swarm.peers().size() == 2);
      a.swarm.disconnect(b.swarm.self());
      auto const gone = co_await eventually(r, [&] { return a.swarm.peers().empty(); });
      CHECK(gone);
      CHECK(heard == std::vector<bool>{true, false});
      co_await a.swarm.close();
      co_await b.swarm.close();
    };
    test::run(runtime, body(runtime));
  }
}
