// SPDX-License-Identifier: MIT
#include "core/net/noise_stream.hpp"

#include <doctest/doctest.h>

#include "core/base/scope.hpp"

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

NoiseHandshake::Keys keys(int send, int receive) {
  NoiseHandshake::Keys k;
  k.send.fill(static_cast<std::byte>(send));
  k.receive.fill(static_cast<std::byte>(receive));
  return k;
}

Co<void> secure_end(Runtime& r,
                    std::unique_ptr<Stream> pipe,
                    NoiseHandshake::Role role,
                    crypto::Identity const& self,
                    PeerId expected) {
  auto const secured = co_await secure(r, std::move(pipe), role, self, r.now() + seconds(10));
  REQUIRE(secured);
  CHECK(secured->remote == expected);
}

}  // namespace

TEST_SUITE("NoiseStream") {
  TEST_CASE("writes of every size arrive, whatever the reader's buffer") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      NoiseStream writer(std::move(left), keys(1, 2));
      NoiseStream reader(std::move(right), keys(2, 1));
      TimePoint const deadline = r.now() + seconds(30);
      auto write = [](Stream& s, std::size_t size, TimePoint until) -> Co<void> {
        Bytes data(size);
        for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i % 251);
        auto const wrote = co_await s.write(data, until);
        CHECK(wrote);
      };
      for (std::size_t const size : {1u, 65518u, 65519u, 65520u, 131'038u, 1'000'000u})
        for (std::size_t const room : {7u, 4096u, 65519u, 300'000u}) {
          if (size == 1'000'000u && room == 7u) continue;
          Scope scope(r);
          scope.spawn("write", write(writer, size, deadline));
          Bytes buffer(room);
          std::size_t received = 0;
          bool same = true;
          while (received < size) {
            auto const n = co_await reader.read_some(buffer, deadline);
            REQUIRE(n);
            for (std::size_t i = 0; i < *n; ++i)
              same = same && buffer[i] == static_cast<std::byte>((received + i) % 251);
            received += *n;
          }
          CHECK(received == size);
          CHECK(same);
          (void)co_await scope.join();
        }
      (void)co_await writer.close_write(deadline);
      Bytes end(1);
      auto const n = co_await reader.read_some(end, deadline);
      REQUIRE(n);
      CHECK(*n == 0);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("changed, short and cut messages are errors") {
    SystemRuntime runtime;
    auto feed = [](Runtime& r, Bytes bytes, Errc expected) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      NoiseStream reader(std::move(right), keys(2, 1));
      (void)co_await left->write(bytes, r.now() + seconds(5));
      (void)co_await left->close_write(r.now() + seconds(5));
      Bytes buffer(100);
      auto const n = co_await reader.read_some(buffer, r.now() + seconds(5));
      REQUIRE(!n);
      CHECK(n.error().code == expected);
    };
    Bytes changed(2 + 20);
    changed[1] = std::byte{20};
    test::run(runtime, feed(runtime, changed, Errc::bad_signature));
    test::run(runtime, feed(runtime, *from_hex("000f" + std::string(30, '0')), Errc::malformed));
    test::run(runtime, feed(runtime, *from_hex("001400"), Errc::closed));
  }

  TEST_CASE("the handshake over a pipe tells each who the other is") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto const alice = crypto::Identity::generate();
      auto const bob = crypto::Identity::generate();
      auto [left, right] = sim::memory_pair(r);
      Scope scope(r);
      scope.spawn(
          "initiator",
          secure_end(r, std::move(left), NoiseHandshake::Role::initiator, alice, bob.peer_id()));
      scope.spawn(
          "responder",
          secure_end(r, std::move(right), NoiseHandshake::Role::responder, bob, alice.peer_id()));
      (void)co_await scope.join();
    };
    test::run(runtime, body(runtime));
  }
}
