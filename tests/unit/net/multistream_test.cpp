// SPDX-License-Identifier: MIT
#include "core/net/multistream.hpp"

#include <doctest/doctest.h>

#include "tests/sim/memory_stream.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

Co<void> answer_with(Runtime& r, Bytes dialer, Errc expected) {
  auto [left, right] = sim::memory_pair(r);
  TimePoint const deadline = r.now() + seconds(2);
  (void)co_await left->write(dialer, deadline);
  (void)co_await left->close_write(deadline);
  std::function<bool(std::string_view)> const nothing = [](std::string_view) { return false; };
  auto const agreed = co_await multistream::answer(*right, nothing, deadline);
  REQUIRE(!agreed);
  CHECK(agreed.error().code == expected);
}

}  // namespace

TEST_SUITE("multistream") {
  TEST_CASE("garbage, long tokens and endless proposals are refused") {
    SystemRuntime runtime;
    test::run(runtime, answer_with(runtime, *from_hex("03616263"), Errc::malformed));
    test::run(runtime, answer_with(runtime, multistream::encode("/other/1.0.0"), Errc::malformed));
    test::run(runtime, answer_with(runtime, *from_hex("8108"), Errc::too_large));
    Bytes many = multistream::encode(multistream::kHeader);
    for (int i = 0; i < 1000; ++i) append(many, multistream::encode("/x"));
    test::run(runtime, answer_with(runtime, many, Errc::refused));
    test::run(runtime, answer_with(runtime, multistream::opening("/x"), Errc::closed));
  }

  TEST_CASE("a dialer is told of refusal, and of answers that answer something else") {
    SystemRuntime runtime;
    auto body = [](Runtime& r, std::string reply, Errc expected) -> Co<void> {
      auto [left, right] = sim::memory_pair(r);
      TimePoint const deadline = r.now() + seconds(2);
      Bytes const bytes = multistream::opening(reply);
      (void)co_await right->write(bytes, deadline);
      std::string const wanted = "/wanted";
      auto const agreed = co_await multistream::propose(*left, wanted, deadline);
      REQUIRE(!agreed);
      CHECK(agreed.error().code == expected);
    };
    test::run(runtime, body(runtime, "na", Errc::refused));
    test::run(runtime, body(runtime, "/other", Errc::malformed));
  }

  TEST_CASE("a token without its newline is malformed") {
    CHECK(!multistream::decode({}));
    CHECK(!multistream::decode(as_bytes("abc")));
    CHECK(*multistream::decode(as_bytes("abc\n")) == "abc");
  }
}
