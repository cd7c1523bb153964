// SPDX-License-Identifier: MIT
#include "core/blob/provider_book.hpp"

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::blob;
using namespace std::chrono_literals;

namespace {

TimePoint const kStart{100s};

}  // namespace

TEST_SUITE("ProviderBook") {
  TEST_CASE("asks hints first, spreads streams, and opens kStreamsEach to each") {
    ProviderBook book;
    book.add(sim::peer(1), false);
    book.add(sim::peer(2), true);
    CHECK(book.pick(kStart) == sim::peer(2));
    CHECK(book.pick(kStart) == sim::peer(1));
    CHECK(book.pick(kStart) == sim::peer(2));
    CHECK(book.pick(kStart) == sim::peer(1));
    CHECK(!book.pick(kStart));
    CHECK(book.streams() == 4);
    book.ended(sim::peer(1), Ending::greeted, kStart);
    CHECK(book.pick(kStart) == sim::peer(1));
  }

  TEST_CASE("waits longer after each failure, up to a limit, and forgives after something good") {
    ProviderBook book;
    auto const peer = sim::peer(1);
    book.add(peer, false);
    REQUIRE(book.pick(kStart) == peer);
    book.ended(peer, Ending::failed, kStart);
    auto now = book.next_due(kStart);
    Duration last{};
    for (int i = 0; i < 12; ++i) {
      REQUIRE(book.pick(now) == peer);
      CHECK(!book.pick(now));  // a failing one gets one stream
      book.ended(peer, Ending::failed, now);
      CHECK(!book.pick(now));
      auto const due = book.next_due(now);
      CHECK(due - now >= last);
      CHECK(due - now <= ProviderBook::kLongestWait);
      last = due - now;
      now = due;
    }
    CHECK(last == ProviderBook::kLongestWait);
    CHECK(book.useful() == 0);
    book.gave(peer);
    CHECK(book.useful() == 1);
    CHECK(book.pick(now));
    CHECK(book.pick(now));
  }

  TEST_CASE("one lie may be a bad disk, the second ends it") {
    ProviderBook book;
    auto const peer = sim::peer(1);
    book.add(peer, true);
    REQUIRE(book.pick(kStart));
    book.ended(peer, Ending::lied, kStart);
    CHECK(!book.banned(peer));
    auto const due = book.next_due(kStart);
    REQUIRE(book.pick(due));
    book.gave(peer);  // good chunks between do not wash it off
    book.ended(peer, Ending::lied, due);
    CHECK(book.banned(peer));
    CHECK(!book.pick(due + 10h));
    CHECK(book.next_due(due) == kNoDeadline);
    book.add(peer, true);
    CHECK(!book.pick(due + 10h));
  }

  TEST_CASE("a flood of names is bounded, and gives way to new ones when it fails") {
    ProviderBook book;
    for (std::uint64_t n = 0; n < 2000; ++n) book.add(sim::peer(n), false);
    CHECK(book.useful() == ProviderBook::kMaxProviders);
    auto const honest = sim::peer(99'999);
    auto now = kStart;
    book.add(honest, false);
    CHECK(book.useful() == ProviderBook::kMaxProviders);
    bool reached = false;
    for (int round = 0; round < 5000 && !reached; ++round) {
      book.add(honest, false);
      auto const peer = book.pick(now);
      if (!peer) {
        now = book.next_due(now);
        continue;
      }
      reached = *peer == honest;
      book.ended(*peer, Ending::failed, now);
    }
    CHECK(reached);
  }
}
