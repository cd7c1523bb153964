// SPDX-License-Identifier: MIT
#include "core/net/stream.hpp"

#include <doctest/doctest.h>

#include "core/wire/varint.hpp"

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

TEST_SUITE("Stream") {
  TEST_CASE("frames come back one by one, and what follows them stays in the pipe") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      Bytes const big(300, std::byte{7});
      (void)co_await write_frame(*left, as_bytes("one"), deadline);
      (void)co_await write_frame(*left, big, deadline);
      (void)co_await left->write(as_bytes("rest"), deadline);
      (void)co_await left->close_write(deadline);
      auto const one = co_await read_frame(*right, 3, deadline);
      REQUIRE(one);
      CHECK(as_text(*one) == "one");
      auto const two = co_await read_frame(*right, 300, deadline);
      REQUIRE(two);
      CHECK(*two == big);
      auto const rest = co_await read_to_end(*right, 4, deadline);
      REQUIRE(rest);
      CHECK(as_text(*rest) == "rest");
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("a frame above the limit is refused before memory is taken") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      Bytes head;
      wire::append_varint(head, std::uint64_t{1} << 62);
      (void)co_await left->write(head, deadline);
      auto const frame = co_await read_frame(*right, 1000, deadline);
      REQUIRE(!frame);
      CHECK(frame.error().code == Errc::too_large);
    };
    test::run(runtime, body(runtime));
  }

  TEST_CASE("ends inside a frame, lengths that are no varint and long streams are errors") {
    SystemRuntime runtime;
    auto feed = [](Runtime& r, Bytes bytes, Errc expected) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      (void)co_await left->write(bytes, deadline);
      (void)co_await left->close_write(deadline);
      auto const frame = co_await read_frame(*right, 1000, deadline);
      REQUIRE(!frame);
      CHECK(frame.error().code == expected);
    };
    test::run(runtime, feed(runtime, Bytes{}, Errc::closed));
    test::run(runtime, feed(runtime, *from_hex("05aabb"), Errc::closed));
    test::run(runtime, feed(runtime, *from_hex("80"), Errc::closed));
    test::run(runtime, feed(runtime, *from_hex("8000"), Errc::malformed));
    test::run(runtime, feed(runtime, *from_hex("ffffffffffffffffffff01"), Errc::malformed));
    auto longer = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      Bytes const bytes(100);
      (void)co_await left->write(bytes, deadline);
      (void)co_await left->close_write(deadline);
      auto const all = co_await read_to_end(*right, 99, deadline);
      REQUIRE(!all);
      CHECK(all.error().code == Errc::too_large);
    };
    test::run(runtime, longer(runtime));
  }

  TEST_CASE("an end before a frame is no error where none has to come") {
    SystemRuntime runtime;
    auto body = [](Runtime& r) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(5);
      (void)co_await left->close_write(deadline);
      auto const frame = co_await read_frame_or_end(*right, 10, deadline);
      REQUIRE(frame);
      CHECK(!frame->has_value());
    };
    test::run(runtime, body(runtime));
  }
}
