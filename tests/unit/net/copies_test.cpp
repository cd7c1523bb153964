// SPDX-License-Identifier: MIT
// How often payload is copied on its way through rpc, yamux, Noise and TCP, pinned: what is
// measured here is what a byte of gradient costs. A new copy in any of these layers fails this
// test.
#include "core/base/copies.hpp"

#include <doctest/doctest.h>

#include "core/net/address_book.hpp"
#include "core/net/rpc/rpc.hpp"
#include "core/net/swarm.hpp"

#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

constexpr std::size_t kItem = 512u << 10;  // averaging's part
constexpr std::size_t kItems = 64;

// Only heads and frames' headers: bodies are sealed from where they lie.
constexpr double kSendCopies = 0.01;
// From the opened message into the item.
constexpr double kReceiveCopies = 1.0;
// Item boundaries, windows that grow, items that come before they are asked for: more of it the
// busier the machine is. One more copy of everything is 1.
constexpr double kSlack = 0.5;

Co<Status> swallow(rpc::ServerCall& call) {
  std::size_t got = 0;
  for (;;) {
    auto item = co_await call.receive(kNoDeadline);
    if (!item) co_return std::move(item).error();
    if (!*item) break;
    got += (*item)->size();
  }
  CHECK(got == kItems * kItem);
  co_return ok();
}

Co<void> send_items(Swarm& from, PeerId to) {
  TimePoint const deadline = from.runtime().now() + seconds(60);
  auto opened = co_await rpc::ClientCall::open(from, to, "test::Copies.swallow", deadline);
  REQUIRE(opened);
  Bytes const head(20, std::byte{1});
  Bytes const tail(kItem - head.size(), std::byte{2});
  for (std::size_t i = 0; i < kItems; ++i) {
    auto const sent = co_await (*opened)->send(head, tail, deadline);
    REQUIRE(sent);
  }
  auto const finished = co_await (*opened)->finish(deadline);
  REQUIRE(finished);
  auto const end = co_await (*opened)->receive(deadline);
  REQUIRE(end);
  CHECK_FALSE(end->has_value());
}

Co<void> stay(Incoming incoming) {
  Bytes byte(1);
  (void)co_await incoming.stream->read_some(byte, kNoDeadline);
}

Co<void> scenario(Runtime& runtime) {
  auto const alice = crypto::Identity::generate();
  auto const bob = crypto::Identity::generate();
  AddressBook alices(runtime);
  AddressBook bobs(runtime);
  SwarmOptions options;
  options.listen_host = "127.0.0.1";
  Swarm a(runtime, alice, alices, options);
  Swarm b(runtime, bob, bobs, options);
  REQUIRE(b.listen());
  a.add_addresses(b.self(), b.addresses());
  {
    rpc::StreamHandler handler = [](rpc::ServerCall& call) { return swallow(call); };
    auto const serving = rpc::serve_stream(b, "test::Copies.swallow", std::move(handler));
    // Strangers get small buffers, and so more copies; whom we use ourselves is none.
    Handler greet = [](Incoming incoming) { return stay(std::move(incoming)); };
    auto const greeting = a.serve("/test/greet", std::move(greet));
    auto const connected = co_await a.connect(b.self(), runtime.now() + seconds(20));
    REQUIRE(connected);
    for (int i = 0; i < 1000 && !b.connected(a.self()); ++i)
      (void)co_await runtime.sleep_for(std::chrono::milliseconds(5));
    auto const greeted = co_await b.open(a.self(), "/test/greet", runtime.now() + seconds(20));
    REQUIRE(greeted);
    auto const sent_before = copied_bytes(Copied::send);
    auto const received_before = copied_bytes(Copied::receive);
    co_await send_items(a, b.self());
    double const payload = static_cast<double>(kItems * kItem);
    double const sent = static_cast<double>(copied_bytes(Copied::send) - sent_before) / payload;
    double const received =
        static_cast<double>(copied_bytes(Copied::receive) - received_before) / payload;
    MESSAGE("copies a byte: ", sent, " sent, ", received, " received");
    if (kCountCopies) {
      CHECK(sent <= kSendCopies);
      CHECK(received <= kReceiveCopies + kSlack);
      CHECK(sent + received > 0);  // else nobody counts
    }
  }
  co_await a.close();
  co_await b.close();
}

}  // namespace

TEST_CASE("streaming calls copy no byte on its way out and each once on its way in") {
  SystemRuntime runtime;
  test::run(runtime, scenario(runtime));
}
