// SPDX-License-Identifier: MIT
#include "core/worker/pacer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle;
using waggle::worker::Pacer;

namespace {

/// A worker whose pieces take what `piece` says, on a clock that jumps.
struct Machine {
  Pacer pacer;
  TimePoint now{std::chrono::hours(1)};
  Duration used{};
  std::uint64_t seed = 1;
  double late = 0;  ///< seconds at most that a timer is late

  double chance() {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 40) / static_cast<double>(1u << 24);
  }

  void piece(double work, double beside = 0) {
    auto const due = pacer.due(used, now);
    if (due > now) now = due + seconds(late * chance());
    used += seconds(work);
    now += seconds(work + beside);
  }
};

}  // namespace

TEST_SUITE("Pacer") {
  TEST_CASE("holds every share within five points, however uneven the pieces and late the timers") {
    for (double const share : {0.05, 0.1, 0.25, 0.4, 0.5, 0.65, 0.8, 0.95})
      for (double const mean : {0.004, 0.05, 0.7, 3.0, 8.0, 30.0})
        for (double const jitter : {0.0, 0.5, 0.95}) {
          CAPTURE(share);
          CAPTURE(mean);
          CAPTURE(jitter);
          Machine m;
          m.late = 0.02;
          m.pacer.set_share(share);
          auto const start = m.now;
          double const length = std::max(60.0, 40 * mean / share);
          while (to_seconds(m.now - start) < length)
            m.piece(mean * (1 + jitter * (2 * m.chance() - 1)));
          double const held = to_seconds(m.used) / to_seconds(m.now - start);
          CHECK(std::abs(held - share) < 0.05);
          CHECK(std::abs(held - share) < 0.3 * share);
        }
  }

  TEST_CASE("over any thirty seconds of short pieces, too") {
    Machine m;
    m.pacer.set_share(0.4);
    std::vector<std::pair<TimePoint, Duration>> seen;
    for (int i = 0; i < 20'000; ++i) {
      // Now and then one that takes forty times as long.
      m.piece(i % 97 == 0 ? 2.0 : 0.05 * m.chance());
      seen.emplace_back(m.now, m.used);
    }
    std::size_t first = 0;
    for (auto const& [now, used] : seen) {
      while (now - seen[first].first > std::chrono::seconds(30)) ++first;
      double const span = to_seconds(now - seen[first].first);
      if (span < 25) continue;
      // One long piece at the end of a window has not rested yet.
      CHECK(to_seconds(used - seen[first].second) / span < 0.4 + 0.05 + 2.0 / span);
    }
  }

  TEST_CASE("all of the time is no rest, and a first piece none either") {
    Pacer pacer;
    TimePoint const now{std::chrono::hours(1)};
    CHECK(pacer.due({}, now) <= now);
    CHECK(pacer.due(std::chrono::seconds(9), now + std::chrono::seconds(9)) <=
          now + std::chrono::seconds(9));
    pacer.set_share(0.5);
    CHECK(pacer.due(std::chrono::seconds(9), now) <= now);
    CHECK(pacer.due(std::chrono::seconds(19), now + std::chrono::seconds(10)) ==
          now + std::chrono::seconds(20));
  }

  TEST_CASE("what is owed is paid at the share that holds now") {
    Pacer pacer;
    TimePoint const now{std::chrono::hours(1)};
    pacer.set_share(0.5);
    CHECK(pacer.rest_until() < now);
    (void)pacer.due({}, now);
    CHECK(pacer.due(std::chrono::seconds(20), now) == now + std::chrono::seconds(40));
    CHECK(pacer.rest_until() == now + std::chrono::seconds(40));
    pacer.set_share(0.25);
    CHECK(pacer.rest_until() == now + std::chrono::seconds(80));
    pacer.set_share(0.8);
    CHECK(pacer.rest_until() == now + std::chrono::seconds(25));
  }

  TEST_CASE("a long wait for others is followed by no long burst") {
    Machine m;
    m.pacer.set_share(0.5);
    for (int i = 0; i < 50; ++i) m.piece(0.1);
    m.now += std::chrono::hours(2);
    auto const begin = m.now;
    auto const used = m.used;
    while (m.now - begin < std::chrono::seconds(20)) m.piece(0.1);
    // One piece may hang over each end.
    CHECK(to_seconds(m.used - used) < 0.5 * 20 + 0.5 * to_seconds(Pacer::kWindow) + 0.2);
  }

  TEST_CASE("what nobody could rest for is owed for one window, not for ever") {
    Pacer pacer;
    pacer.set_share(0.1);
    TimePoint now{std::chrono::hours(1)};
    Duration used{};
    (void)pacer.due(used, now);
    for (int i = 0; i < 100; ++i) {  // works all the time, whatever it is told
      now += std::chrono::seconds(10);
      used += std::chrono::seconds(10);
      (void)pacer.due(used, now);
    }
    auto const most = (to_seconds(Pacer::kWindow) + 10) / 0.1;
    CHECK(to_seconds(pacer.due(used, now) - now) <= most);
  }

  TEST_CASE("a process that begins anew, and all of the time, owe nothing") {
    Pacer pacer;
    TimePoint const now{std::chrono::hours(1)};
    pacer.set_share(0.1);
    (void)pacer.due(std::chrono::seconds(5), now);
    CHECK(pacer.due(std::chrono::seconds(10), now) > now);
    CHECK(pacer.due(std::chrono::seconds(1), now) == now);
    CHECK(pacer.due(std::chrono::seconds(2), now) > now);
    pacer.set_share(1);
    CHECK(pacer.rest_until() < now);
    pacer.set_share(0.2);
    CHECK(pacer.due(std::chrono::seconds(2), now) == now);
    CHECK(pacer.due(std::chrono::seconds(3), now) > now);
    pacer.set_share(0.2);
    CHECK(pacer.due(std::chrono::seconds(3), now) > now);
    pacer.reset();
    CHECK(pacer.due(std::chrono::seconds(3), now) == now);
    pacer.set_share(7);
    CHECK(pacer.share() == 1);
    pacer.set_share(-1);
    CHECK(pacer.share() == 0.01);
  }
}
