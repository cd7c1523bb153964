// SPDX-License-Identifier: MIT
#include "core/dht/clock.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using dht::ClockOffset;

namespace {

PeerId peer(int n) {
  return *PeerId::from_bytes(as_bytes(cat("peer ", n)));
}

}  // namespace

TEST_CASE("two peers are not enough to move the clock, three are") {
  ClockOffset clock;
  clock.sample(peer(1), 1000, 1002, 1301);
  clock.sample(peer(2), 1000, 1002, 1302);
  CHECK(clock.measured() == 0);
  clock.sample(peer(3), 1000, 1002, 1303);
  CHECK(clock.measured() == 301);
  CHECK(clock.applied() == 301);
  CHECK(clock.samples() == 3);
}

TEST_CASE("a lying minority moves nothing") {
  ClockOffset clock;
  for (int i = 0; i < 5; ++i) clock.sample(peer(i), 1000, 1000, 1000 + 0.01 * i);
  for (int i = 5; i < 9; ++i) clock.sample(peer(i), 1000, 1000, 1e9);
  CHECK(clock.measured() < 0.1);
  CHECK(clock.applied() == 0);
}

TEST_CASE("the error of measurement is not applied, nor what a majority of liars would have") {
  ClockOffset clock;
  for (int i = 0; i < 3; ++i) clock.sample(peer(i), 1000, 1000, 1000.9);
  CHECK(clock.measured() == doctest::Approx(0.9));
  CHECK(clock.applied() == 0);
  for (int i = 0; i < 3; ++i) clock.sample(peer(i), 1000, 1000, 1000 + 3600);
  CHECK(clock.measured() == 3600);
  CHECK(clock.applied() == 0);
  for (int i = 0; i < 3; ++i) clock.sample(peer(i), 1000, 1000, 1000 - 600);
  CHECK(clock.applied() == -600);
}

TEST_CASE("answers that are no time are no samples") {
  ClockOffset clock;
  clock.sample(peer(1), 1000, 1000, 0);
  clock.sample(peer(2), 1000, 1000, -5);
  clock.sample(peer(3), 1000, 1000, std::numeric_limits<double>::quiet_NaN());
  clock.sample(peer(4), 1000, 1000, std::numeric_limits<double>::infinity());
  CHECK(clock.samples() == 0);
}

TEST_CASE("setting our own clock right takes the offset away at once") {
  ClockOffset clock;
  for (int i = 0; i < 3; ++i) clock.sample(peer(i), 1000, 1000, 1100);
  clock.stepped(100);
  CHECK(clock.measured() == 0);
}

TEST_CASE("old samples make room for new ones") {
  ClockOffset clock;
  for (int i = 0; i < 64; ++i) clock.sample(peer(i), 1000, 1000, 1100);
  for (int i = 100; i < 164; ++i) clock.sample(peer(i), 1000, 1000, 1050);
  CHECK(clock.samples() == ClockOffset::kMaxPeers);
  CHECK(clock.measured() == 50);
}
